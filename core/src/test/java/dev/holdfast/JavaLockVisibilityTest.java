package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a thread wrote before it unlocked is seen by whoever locks next: plain fields need nothing else. */
@Timeout(120)
class JavaLockVisibilityTest {
    private static final int THREADS = 16;
    private static final int ROUNDS = 2_000;
    private final MemoryStore memory = new MemoryStore();

    // Plain on purpose, and in two fields: a torn or stale view shows as a difference.
    private long count;
    private long mirror;
    private boolean torn;

    @Test
    void manyThreadsThatLockInEveryWayLoseNoUpdateOfAPlainField() throws Exception {
        try (LockClient client = LockClient.builder(memory.open()).build()) {
            List<Callable<Long>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Lock lock = client.lock("a").asLock();
                Way way = WAYS.get(i % WAYS.size());
                all.add(() -> countWith(lock, way));
            }
            assertThat(runAll(all)).isEqualTo(count).isGreaterThanOrEqualTo(ROUNDS);
            assertThat(mirror).isEqualTo(count);
            assertThat(torn).isFalse();
            EngineCase.soon(() -> !client.lock("a").status().isHeld());
        }
    }

    @Test
    @Tag("thorough")
    void neitherDoTheThreadsOfSeveralClientsOfOneStore() throws Exception {
        try (LockClient one = LockClient.builder(memory.open()).build();
                LockClient two = LockClient.builder(memory.open()).build()) {
            List<Callable<Long>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Lock lock = (i % 2 == 0 ? one : two).lock("a").asLock();
                Way way = WAYS.get(i / 2 % WAYS.size());
                all.add(() -> countWith(lock, way));
            }
            assertThat(runAll(all)).isEqualTo(count).isGreaterThanOrEqualTo(ROUNDS);
            assertThat(mirror).isEqualTo(count);
            assertThat(torn).isFalse();
        }
    }

    /** A way to lock; says whether it did. */
    private interface Way {
        boolean lock(Lock lock) throws InterruptedException;
    }

    private static final List<Way> WAYS = List.of(
            lock -> {
                lock.lock();
                return true;
            },
            lock -> {
                lock.lockInterruptibly();
                return true;
            },
            Lock::tryLock,
            lock -> lock.tryLock(50, TimeUnit.MICROSECONDS),
            lock -> lock.tryLock(1, TimeUnit.DAYS));

    private long countWith(Lock lock, Way way) throws InterruptedException {
        long mine = 0;
        for (int i = 0; i < ROUNDS; i++) {
            if (way.lock(lock)) {
                try {
                    torn |= count != mirror;
                    count++;
                    mirror++;
                    mine++;
                } finally {
                    lock.unlock();
                }
            }
        }
        return mine;
    }

    private static long runAll(List<Callable<Long>> all) throws Exception {
        List<EngineCase.Started<Long>> started = new ArrayList<>();
        for (Callable<Long> each : all) {
            started.add(EngineCase.start(each));
        }
        long sum = 0;
        for (EngineCase.Started<Long> each : started) {
            sum += each.result();
        }
        return sum;
    }
}
