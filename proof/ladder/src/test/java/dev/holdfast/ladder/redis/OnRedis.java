package dev.holdfast.ladder.redis;

import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A Redis server without a key, and rungs on it. */
abstract class OnRedis {
    static final String LOCK = "stock:7";
    static final Duration PATIENCE = Duration.ofSeconds(20);

    @Started
    static RedisServer server;

    private final Deque<Rung> rungs = new ArrayDeque<>();

    @BeforeEach
    void forgetAll() {
        redis("FLUSHALL");
    }

    @AfterEach
    void close() {
        rungs.forEach(Rung::close);
    }

    final Rung on(Function<String, Rung> rung) {
        return keep(rung.apply(server.uri()));
    }

    final Rung keep(Rung rung) {
        rungs.push(rung);
        return rung;
    }

    static void awaitEntry(Rung rung) {
        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(rung, LOCK));
    }

    static void awaitTheEndOfTheLease() {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> redis("EXISTS", LOCK).equals("0"));
    }

    static String through(TcpProxy proxy) {
        return "redis://127.0.0.1:" + proxy.port();
    }

    static String redis(String... command) {
        return server.call(command);
    }
}
