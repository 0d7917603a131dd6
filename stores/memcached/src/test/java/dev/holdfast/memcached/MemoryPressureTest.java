package dev.holdfast.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
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
 * A server that forgets, again and again: how long a hold stays valid whose item is gone, and what becomes of tokens, also for
 * a client that has seen none. Settings:
 * {@code holdfast.memcached.rounds} is how often, 60 unless it is given.
 */
@Tag("thorough")
class MemoryPressureTest {
    private static final int ROUNDS = Integer.getInteger("holdfast.memcached.rounds", 60);
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    /** What the page says: the next renewal, a third of the lease later, and the time-out of a request. */
    private static final Duration BOUND = LEASE.dividedBy(3).plus(TIMEOUT);

    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(LEASE);

    /** Evicted by other values, flushed, or restarted, in turn. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void noHoldOutlivesItsItemForLongerThanTheBoundAndNoTokenFalls() throws Exception {
        List<List<Duration>> outlived = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        long evictions = 0;
        try (MemcachedServer server = OrSkip.orSkip(() -> MemcachedServer.start("-m", "1", "-I", "512k"));
                LockClient holder = connect(server)) {
            long highest = 0;
            for (int round = 0; round < ROUNDS; round++) {
                Hold hold = acquired(holder);
                assertThat(hold.token()).as("round " + round).isGreaterThan(highest);
                highest = hold.token();
                switch (round % 3) {
                    case 0 -> {
                        FaultTest.evict(server, hold.name());
                        evictions += server.stat("evictions");
                    }
                    case 1 -> server.ask("flush_all");
                    default -> server.process().restart();
                }
                long gone = System.nanoTime();
                try (LockClient rival = connect(server);
                        Hold next = acquired(rival)) {
                    assertThat(next.token()).as("round " + round).isGreaterThan(highest);
                    highest = next.token();
                    while (hold.isValid()) {
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                    }
                    outlived.get(round % 3).add(Duration.ofNanos(System.nanoTime() - gone));
                    assertThat(next.isValid()).as("round " + round).isTrue();
                }
            }
        }
        outlived.forEach(times -> times.sort(null));
        System.out.println(
                "MemoryPressureTest: " + ROUNDS + " times, " + evictions + " evictions; a hold outlived its item by");
        outlived.forEach(times -> System.out.println("MemoryPressureTest:   " + times.get(times.size() / 2)
                + " in the middle, " + times.get(times.size() - 1) + " at most"));
        assertThat(evictions).as("the fault bit").isPositive();
        assertThat(outlived.get(0)).as("evicted").allMatch(time -> time.compareTo(BOUND) < 0);
        assertThat(outlived.get(1)).as("flushed").allMatch(time -> time.compareTo(BOUND) < 0);
        assertThat(outlived.get(2)).as("restarted: by its deadline").allMatch(time -> time.compareTo(LEASE) < 0);
    }

    /** Right after a restart, a connection may break once more. */
    private static Hold acquired(LockClient client) throws InterruptedException {
        while (true) {
            try {
                return client.lock("job", OPTIONS).acquire();
            } catch (StoreUnavailableException again) {
                assertThat(again).hasMessageContaining("memcached://");
            }
        }
    }

    private static LockClient connect(MemcachedServer server) {
        return LockClient.connect("memcached://" + server.endpoint() + "?timeout=" + TIMEOUT.toSeconds() + "s");
    }
}
