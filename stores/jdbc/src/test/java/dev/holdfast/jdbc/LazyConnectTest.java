package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clients that are made while the server is down. */
class LazyConnectTest {
    @Test
    void aClientIsMadeBeforeTheServerAndServedOnceItAnswers() throws Exception {
        try (PostgresServer postgres = OrSkip.orSkip(PostgresServer::start)) {
            postgres.process().kill();
            try (LockClient client =
                    LockClient.builder(postgres.jdbcUrl()).connectLazily(true).build()) {
                DistributedLock lock = client.lock("a");
                assertThatThrownBy(lock::tryAcquire)
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("jdbc:postgresql://127.0.0.1");
                CompletableFuture<Hold> waits = lock.acquireAsync();

                postgres.process().restart();

                try (Hold hold = waits.get(30, TimeUnit.SECONDS)) {
                    assertThat(lock.status().grant().orElseThrow().token()).isEqualTo(hold.token());
                }
                assertThat(client.capabilities().pushes()).isTrue();
                try (LockClient eager = LockClient.connect(postgres.jdbcUrl())) {
                    assertThat(eager).hasToString(client.toString().replace("]", ", table public.holdfast_lock]"));
                }
            }
        }
    }

    @Test
    void aWrongUrlIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder("jdbc:postgresql://host/db?holdfast.nosuch=1")
                        .connectLazily(true)
                        .build());
    }

    @Test
    void aDatabaseWithoutADriverIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder("jdbc:nosuchdatabase://host/db")
                        .connectLazily(true)
                        .build());
    }
}
