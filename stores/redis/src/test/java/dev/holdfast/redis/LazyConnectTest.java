package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clients that are made while the server is down. */
class LazyConnectTest {
    @Test
    void aClientIsMadeBeforeTheServerAndServedOnceItAnswers() throws Exception {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            redis.process().kill();
            try (LockClient client =
                    LockClient.builder(redis.uri()).connectLazily(true).build()) {
                DistributedLock lock = client.lock("a");
                assertThatThrownBy(lock::tryAcquire)
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining(redis.uri());
                CompletableFuture<Hold> waits = lock.acquireAsync();

                redis.process().restart();

                try (Hold hold = waits.get(30, TimeUnit.SECONDS)) {
                    assertThat(lock.status().grant().orElseThrow().token()).isEqualTo(hold.token());
                }
                assertThat(client.capabilities().pushes()).isTrue();
                try (LockClient eager = LockClient.connect(redis.uri())) {
                    assertThat(client).hasToString(eager.toString());
                }
            }
        }
    }

    @Test
    void aWrongUrlIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder("redis://host:1?nosuch=1")
                        .connectLazily(true)
                        .build());
    }
}
