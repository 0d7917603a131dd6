package dev.holdfast.redis;

import dev.holdfast.tck.SecretsContract;
import dev.holdfast.testbed.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/** A server repeats the arguments of a command that it does not know: of a log-in, where that command is renamed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("thorough") // dozens of URLs; RedisUrlTest and RefusalTest have some of them
class SecretsTest extends SecretsContract {
    private final RedisServer open = RedisServer.start();
    private final RedisServer locked = withPassword(RedisServer.start());
    private final RedisServer withoutLogIn =
            RedisServer.start("--rename-command", "AUTH", "", "--rename-command", "HELLO", "");
    private final RedisServer old = withPassword(RedisServer.start("--rename-command", "HELLO", ""));

    private static RedisServer withPassword(RedisServer server) {
        server.call("CONFIG", "SET", "requirepass", "of-the-server");
        return server;
    }

    @AfterAll
    void stop() {
        List.of(open, locked, withoutLogIn, old).forEach(RedisServer::close);
    }

    @Override
    protected List<String> urls() {
        List<String> urls = new ArrayList<>(List.of(
                "redis://me:SECRET@127.0.0.1:1",
                "redis://me:ENCODED@127.0.0.1:1",
                "redis://:ENCODED@127.0.0.1:1/0",
                "redis://ENCODED@127.0.0.1:1",
                "redis://me:ENCODED@127.0.0.1:1/16?timeout=500ms",
                "redis://me:ENCODED@127.0.0.1:1/xSECRET",
                "redis://me:ENCODED@127.0.0.1:xSECRET",
                "redis://me:ENCODED@127.0.0.1:1?nosuch=1",
                "redis://127.0.0.1:1?password=SECRET",
                "redis://127.0.0.1:1#SECRET",
                "redis:me:SECRET@127.0.0.1:1",
                "rediss://me:ENCODED@127.0.0.1:1?cacert=nosuch",
                "rediss://me:ENCODED@127.0.0.1:" + open.port() + "?timeout=500ms",
                "redis-sentinel://me:ENCODED@127.0.0.1:1,127.0.0.1:2/master",
                "redis-sentinel://me:SECRET@127.0.0.1:1/master",
                "redis-sentinel://me:ENCODED@127.0.0.1:" + open.port() + "/master",
                "rediss-sentinel://127.0.0.1:1,me:ENCODED@127.0.0.1:2/master",
                "redis-cluster://me:ENCODED@127.0.0.1:1,127.0.0.1:2",
                "redis-cluster://me:SECRET@127.0.0.1:1,127.0.0.1:2",
                "redis-cluster://me:ENCODED@127.0.0.1:" + locked.port(),
                "quorum:redis://me:ENCODED@127.0.0.1:1,redis://:ENCODED@127.0.0.1:2,redis://127.0.0.1:3",
                "quorum:redis://me:SECRET@127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3",
                "redis-socket:///run/redis.sock?password=SECRET",
                "redis://127.0.0.1:1"));
        for (RedisServer server : List.of(open, locked, withoutLogIn, old)) {
            urls.add("redis://me:ENCODED@127.0.0.1:" + server.port());
            urls.add("redis://:ENCODED@127.0.0.1:" + server.port());
            if (server != withoutLogIn) { // Lettuce itself logs a node's refusal, as the node wrote it
                urls.add("redis-cluster://me:ENCODED@127.0.0.1:" + server.port());
            }
            urls.add("quorum:redis://:ENCODED@127.0.0.1:" + server.port()
                    + ",redis://me:ENCODED@127.0.0.1:2,redis://127.0.0.1:3");
            urls.add("redis://127.0.0.1:" + server.port());
        }
        return urls;
    }
}
