package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The connection for scripts, when the client library throws. */
class ScriptPipelineTest {
    @Test
    void aCallIsSentAgainAfterAnErrorOfTheClientLibrary() {
        try (Rig rig = new Rig();
                RedisClient client = RedisClient.create(rig.server.uri());
                StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
            AtomicBoolean broken = new AtomicBoolean(true);
            ScriptPipeline pipeline = new ScriptPipeline(
                    throwing(connection, broken), rig.time(), Rig.NEVER, new RedisErrors("redis"), Acks.NONE);
            ScriptCall call = ScriptCall.of(Script.STATUS, "a", List.of());

            pipeline.send(call);

            assertThat(Rig.get(call.answer)).isNotNull();
            assertThat(broken).as("was thrown").isFalse();
        }
    }

    /** The connection, whose next write fails. */
    @SuppressWarnings("unchecked")
    private static StatefulRedisConnection<byte[], byte[]> throwing(
            StatefulRedisConnection<byte[], byte[]> real, AtomicBoolean broken) {
        return (StatefulRedisConnection<byte[], byte[]>) Proxy.newProxyInstance(
                ScriptPipelineTest.class.getClassLoader(),
                new Class<?>[] {StatefulRedisConnection.class},
                (proxy, method, with) -> {
                    boolean writes = method.getName().equals("dispatch") && with[0] instanceof Collection<?>;
                    if (writes && broken.getAndSet(false)) {
                        throw new InternalError("of the client library");
                    }
                    try {
                        return method.invoke(real, with);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
