package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Random histories on a server that keeps all it was told. */
class RedisFuzzTest extends StoreFuzz {
    private RedisServer server;

    @BeforeAll
    void startServer() {
        server = OrSkip.orSkip(() -> RedisServer.start("--appendonly", "yes", "--appendfsync", "always"));
    }

    @AfterAll
    void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new RedisStoreProvider().open("redis://127.0.0.1:" + port + "?timeout=3s", context);
    }

    @Override
    protected OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    protected Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    protected Optional<String> fingerprint(String prefix) {
        StringBuilder all = new StringBuilder();
        try (RespConnection redis = server.connect()) {
            for (int name = 0; name < 3; name++) {
                String key = "holdfast:{" + prefix + name + "}";
                all.append(redis.call("GET", key));
                all.append(redis.call("ZRANGE", key + ":q", "0", "-1")); // without the deadlines, which polls move
                all.append(redis.call("ZRANGE", key + ":h", "0", "-1", "WITHSCORES"));
                all.append(redis.call("HGETALL", key + ":w"));
            }
        }
        return Optional.of(all.toString());
    }
}
