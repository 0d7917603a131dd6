package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A lock that is broken, but not at once: it is free when the lease of its holder ends. */
class BrokenLeaseTest {
    private static final String NAME = "order:42";
    private static final Duration SLOW = Duration.ofMillis(200);

    @Test
    void isNoLongerThanItWasHoweverLongTheBreakTakes() throws SQLException {
        Meddling connections = new Meddling("jdbc:h2:mem:broken" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
        try (ServerStore store = connections.store()) {
            Grant grant =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            connections.meddle(sql -> {
                if (sql.startsWith("SELECT")) {
                    LockSupport.parkNanos(SLOW.toNanos());
                }
            });

            assertThat(Requests.get(store.breakGrant(NAME, grant.number(), false)))
                    .isTrue();

            LockStatus.Held held = Requests.get(store.status(NAME)).grant().orElseThrow();
            assertThat(held.heldFor().plus(held.leaseLeft())).isLessThan(Requests.LEASE.plus(SLOW.dividedBy(2)));
        }
    }
}
