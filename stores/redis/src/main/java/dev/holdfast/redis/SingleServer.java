package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.StoreRefusedException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Opens a store on one server, or on the master that Sentinels name: Lettuce asks them at each connection. */
final class SingleServer {
    /** How often to try a connection that ends before its greeting. */
    private static final int GREETINGS = 3;

    private SingleServer() {}

    /**
     * Connects. A failure leaves nothing behind.
     *
     * @param client made with the URI of the server
     * @param connector how to open the connection that receives offers
     * @param events of the connections of this store and no others; null if the Lettuce client is not ours
     * @param shutDown ends the Lettuce client, if it is ours
     */
    static RedisStore open(
            RedisClient client,
            OfferListener.Connector connector,
            RedisErrors errors,
            Settings settings,
            boolean tls,
            @Nullable EventBus events,
            Runnable shutDown) {
        Deque<StatefulRedisConnection<byte[], byte[]>> opened = new ArrayDeque<>();
        try {
            StatefulRedisConnection<byte[], byte[]> connection = connect(client, null);
            opened.push(connection);
            ScriptPipeline pipeline =
                    new ScriptPipeline(connection, settings.time(), settings.timeout(), errors, settings.acks());
            List<ScriptPipeline> pipelines = new ArrayList<>(List.of(pipeline));
            ScriptSender sender = pipeline;
            Runnable reconnectOthers = () -> {};
            if (settings.acks().areWanted()) {
                StatefulRedisConnection<byte[], byte[]> second = connect(client, null);
                opened.push(second);
                ScriptPipeline others =
                        new ScriptPipeline(second, settings.time(), settings.timeout(), errors, Acks.NONE);
                pipelines.add(others);
                second.async().ping().whenComplete((pong, failure) -> others.moveToThisLoop());
                sender = new AckedSender(pipeline, others);
                reconnectOthers = () -> LettuceConnection.disconnect(second);
            }
            ServerCheck.loadScripts(connection);
            ServerCheck greeting = ServerCheck.exchange(
                    connection, pipeline::moveToThisLoop, errors, settings, ServerCheck.Wanted.SINGLE);
            if (greeting.slots()) {
                pipelines.forEach(ScriptPipeline::useSlots);
            }
            String channel = RedisStore.newChannel();
            RedisStore store = RedisStore.on(
                    sender,
                    errors,
                    settings,
                    greeting,
                    listener -> new OfferListener(connector, channel, listener, settings.time()),
                    shutDown);
            pipeline.tell(eventsFor(store.waiters(), connection, RedisStore.CHANNELS + channel, reconnectOthers));
            if (events != null) {
                tellOfRefusals(events, errors, pipelines);
            }
            return store;
        } catch (RuntimeException e) {
            opened.forEach(StatefulRedisConnection::close);
            shutDown.run();
            throw errors.ofConnecting(e, tls);
        } catch (Error e) {
            opened.forEach(StatefulRedisConnection::close);
            shutDown.run();
            throw e;
        }
    }

    /** A password that was changed is said; all else may pass by itself. */
    private static void tellOfRefusals(EventBus events, RedisErrors errors, List<ScriptPipeline> pipelines) {
        events.get().subscribe(event -> {
            if (event instanceof ReconnectFailedEvent failed) {
                StoreRefusedException refused =
                        errors.ofLogIn(failed.getCause()) instanceof StoreRefusedException why ? why : null;
                pipelines.forEach(each -> each.notConnected(refused));
            }
        });
    }

    /**
     * Connects, and again if the connection ended before its greeting. Lettuce closes a connection whose log-in is
     * refused; about once in a hundred times it reports that end instead of the refusal, which says what to do.
     *
     * @param uri null for the URI that the client was made with
     */
    static StatefulRedisConnection<byte[], byte[]> connect(RedisClient client, @Nullable RedisURI uri) {
        boolean interrupted = Thread.interrupted(); // otherwise Lettuce throws, and leaves a connection open
        try {
            return connectUninterrupted(client, uri);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static StatefulRedisConnection<byte[], byte[]> connectUninterrupted(
            RedisClient client, @Nullable RedisURI uri) {
        for (int left = GREETINGS - 1; ; left--) {
            try {
                return uri == null
                        ? client.connect(ByteArrayCodec.INSTANCE)
                        : client.connect(ByteArrayCodec.INSTANCE, uri);
            } catch (RedisConnectionException e) {
                if (left == 0 || !RedisErrors.endedEarly(e)) {
                    throw e;
                }
            }
        }
    }

    /**
     * Passes changes of the connection on.
     *
     * @param channel of the subscription, which stays if it is at the same server as the connection
     * @param reconnectOthers connects all others again: the name may lead to another server by now
     */
    private static PipelineEvents eventsFor(
            PendingClaims waiters,
            StatefulRedisConnection<byte[], byte[]> connection,
            String channel,
            Runnable reconnectOthers) {
        return new PipelineEvents() {
            @Override
            public void connected() {
                reconnectOthers.run();
                waiters.connected();
                connection
                        .async()
                        .publish(channel.getBytes(UTF_8), new byte[0]) // which says nothing
                        .whenComplete((heard, failure) -> {
                            if (failure != null || heard == 0) {
                                waiters.reconnect();
                            }
                        });
            }

            @Override
            public void disconnected() {
                waiters.disconnected();
            }

            @Override
            public void shutDown(RuntimeException why) {
                waiters.shutDown(why);
            }

            @Override
            public void becameReplica() {
                waiters.reconnect();
            }
        };
    }
}
