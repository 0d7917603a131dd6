package dev.holdfast.redis;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreEvent;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that ends connections sooner than a renewal needs one. */
@Timeout(120)
class IdleConnectionsTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    @Tag("thorough")
    void redisThatEndsIdleConnectionsIsNeverReported() throws Exception {
        Queue<Object> reported = new ConcurrentLinkedQueue<>();
        Handler ear = new Handler() {
            @Override
            public void publish(LogRecord line) {
                if (line.getLevel().intValue() >= java.util.logging.Level.WARNING.intValue()) {
                    reported.add(line.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.holdfast");
        logger.addHandler(ear);
        try (RedisServer server = orSkip(() -> RedisServer.start("--timeout", "1"));
                LockClient client = LockClient.builder(server.uri())
                        .listener(new LockListener() {
                            @Override
                            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                                reported.add(event);
                            }
                        })
                        .build();
                Hold hold = client.lock("idle", HoldOptions.defaults().lease(Duration.ofSeconds(9)))
                        .acquire()) {
            reported.clear(); // a server that writes nothing to disk is warned of
            await().during(Duration.ofSeconds(12)).atMost(SOON).until(() -> {
                assertThat(reported).isEmpty();
                return hold.isValid();
            });
            try (RespConnection admin = RespConnection.open(server.port(), SOON)) {
                assertThat(admin.call("INFO", "stats")).containsPattern("total_connections_received:(?:[4-9]|\\d{2})");
            }
        } finally {
            logger.removeHandler(ear);
        }
    }
}
