package dev.holdfast.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.OrSkip;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server whose clock skips a second, as each does every quarter of an hour or so: its ticks come a little later each time, and
 * at last two of them have a whole second between them. A stop of the process brings the tick to the end of a second, so
 * that the skip comes soon.
 */
@Tag("thorough")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ServerClockTest {
    private static final Duration LEASE = MemcachedStore.SHORTEST_LEASE;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long DEADLINE = LEASE.toNanos() - LEASE.toNanos() / 100;
    private static final int CLAIMS = 80;

    @Test
    void noItemEndsBeforeItsLeaseWhenTheClockSkipsASecond() throws Exception {
        try (MemcachedServer server = OrSkip.orSkip(MemcachedServer::start);
                Store store = new MemcachedStoreProvider()
                        .open("memcached://" + server.endpoint(), new StoreContext(new KitTime()))) {
            boolean skipped = false;
            for (int attempt = 0; attempt < 10 && !skipped; attempt++) {
                bringTheTickToTheEndOfASecond(server);
                long before = server.stat("uptime");
                List<Grant> grants = new ArrayList<>();
                for (int i = 0; i < CLAIMS; i++) {
                    grants.add(granted(store));
                    LockSupport.parkNanos(SECOND / 10);
                    long now = server.stat("uptime");
                    skipped |= now - before == 2;
                    before = now;
                    expectAllThatAreNotOver(store, grants);
                }
            }
            assertThat(skipped).as("the fault bit").isTrue();
        }
    }

    private static void bringTheTickToTheEndOfASecond(MemcachedServer server) {
        long early = 0; // a signal takes some milliseconds
        for (long tick = awaitTick(server); tick % SECOND < SECOND * 992 / 1000; tick = awaitTick(server)) {
            long due = tick + SECOND;
            long aim = due - due % SECOND + SECOND * 997 / 1000 - early;
            server.process().stop();
            while (System.nanoTime() < Math.max(due, aim)) {
                LockSupport.parkNanos(SECOND / 10_000);
            }
            server.process().cont();
            long late = (awaitTick(server) - aim - early) % SECOND;
            early = Math.floorMod(early + (late > SECOND / 2 ? late - SECOND : late), SECOND / 10);
        }
    }

    /** The time at which the server's clock has ticked. */
    private static long awaitTick(MemcachedServer server) {
        long before = server.stat("uptime");
        while (server.stat("uptime") == before) {
            LockSupport.parkNanos(SECOND / 2_000);
        }
        return System.nanoTime();
    }

    private static void expectAllThatAreNotOver(Store store, List<Grant> grants) throws Exception {
        for (Grant grant : grants) {
            boolean held = System.nanoTime() - grant.sentNanos() > DEADLINE
                    || store.status(grant.name())
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS)
                            .isHeld();
            long age = System.nanoTime() - grant.sentNanos();
            assertThat(held || age > DEADLINE)
                    .as("an item is there after " + age / 1_000_000 + " ms")
                    .isTrue();
        }
    }

    private static Grant granted(Store store) {
        return Asked.of(
                        store,
                        new Claim(
                                ClaimId.random(),
                                "clock-" + System.nanoTime(),
                                Mode.EXCLUSIVE,
                                LEASE,
                                false,
                                0,
                                new Holder("host", 1, "thread", "")))
                .answer()
                .join()
                .orElseThrow();
    }
}
