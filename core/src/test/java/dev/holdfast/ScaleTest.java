package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many waiters, many names, many holds; and what is left of them. */
@Timeout(120)
class ScaleTest {
    private final MemoryStore memory = new MemoryStore();

    @Test
    void tenThousandVirtualThreadsThatContendAllFinish() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads need JDK 21");
        contend(virtualThreads(), 10_000);
    }

    @Test
    void fiveHundredPlatformThreadsThatContendAllFinish() throws Exception {
        contend(Executors.newCachedThreadPool(), 500);
    }

    private void contend(ExecutorService threads, int count) throws Exception {
        int[] counter = new int[1]; // guarded by the lock under test
        try (LockClient one = LockClient.builder(memory.open()).build();
                LockClient two = LockClient.builder(memory.open()).build()) {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                DistributedLock lock = (i % 2 == 0 ? one : two).lock("a");
                done.add(threads.submit(() -> {
                    try (Hold hold = lock.acquire()) {
                        counter[0] += hold.isValid() ? 1 : 0;
                    }
                    return null;
                }));
            }
            for (Future<?> each : done) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdown();
        }
        assertThat(counter[0]).isEqualTo(count);
    }

    @Test
    @Tag("thorough")
    void aHundredThousandNamesLockedOnceLeaveNothingInTheClient() throws Exception {
        try (LockClient client = LockClient.builder(memory.open()).build()) {
            lockOnce(client, 0, 1_000);
            long before = usedHeap();
            lockOnce(client, 1_000, 101_000);
            assertThat(usedHeap() - before).as("bytes kept").isLessThan(1_000_000);
        }
    }

    private static void lockOnce(LockClient client, int from, int to) throws InterruptedException {
        for (int i = from; i < to; i++) {
            client.lock("name-" + i).acquire().close();
        }
    }

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    @Test
    @Tag("thorough")
    void manyHoldsAreRenewedInBatches() throws Exception {
        ManualTime time = new ManualTime();
        UnreliableStore counted = new UnreliableStore(new MemoryStore(time).open(time));
        HoldOptions options = HoldOptions.defaults().lease(Duration.ofMillis(900));
        try (LockClient client = LockClient.builder(counted).time(time).build()) {
            List<Hold> holds = many(client, options, 2_000);
            int thirds = 20;
            for (int i = 0; i < thirds; i++) {
                time.advance(options.lease().dividedBy(3));
            }
            assertThat(holds).allMatch(Hold::isValid);
            assertThat(counted.renewalRequests).as("requests of a thousand").hasValue(2 * thirds);
            holds.forEach(Hold::close);
        }
    }

    @Test
    void theMoreHoldsThereAreTheMoreAreRenewedTogether() throws Exception {
        ManualTime time = new ManualTime();
        UnreliableStore counted = new UnreliableStore(new MemoryStore(time).open(time));
        HoldOptions options = HoldOptions.defaults().lease(Duration.ofMillis(900));
        try (LockClient client = LockClient.builder(counted).time(time).build()) {
            List<Hold> holds = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                holds.add(client.lock("name-" + i, options).acquire());
                if (i % 10 == 0) {
                    time.advance(Duration.ofMillis(1));
                }
            }
            counted.renewalRequests.set(0);
            time.advance(Duration.ofSeconds(3));
            assertThat(holds).allMatch(Hold::isValid);
            assertThat(counted.renewalRequests.get())
                    .as("requests in ten thirds of the lease, where the dues lie 200 ms apart")
                    .isLessThanOrEqualTo(40);
            holds.forEach(Hold::close);
        }
    }

    @Test
    void oneHoldOfAShortLeaseDoesNotHaveVeryManyOthersRenewedMoreOften() throws Exception {
        ManualTime time = new ManualTime();
        UnreliableStore counted = new UnreliableStore(new MemoryStore(time).open(time));
        HoldOptions options = HoldOptions.defaults().lease(Duration.ofMillis(900));
        try (LockClient client = LockClient.builder(counted).time(time).build()) {
            List<Hold> holds = many(client, options, 3_000);
            holds.add(
                    client.lock("short", options.lease(Duration.ofMillis(100))).acquire());
            time.advance(Duration.ofMillis(1_500));
            assertThat(holds).allMatch(Hold::isValid);
            assertThat(counted.grantsRenewed.get() / 3_000)
                    .as("renewals of each in five thirds of the lease")
                    .isLessThanOrEqualTo(7);
            holds.forEach(Hold::close);
        }
    }

    @Test
    void manyHoldsNeedNoThreadEach() throws Exception {
        try (LockClient client = LockClient.builder(memory.open()).build()) {
            int threads = Thread.activeCount();
            List<Hold> holds = many(client, HoldOptions.defaults(), 2_000);
            assertThat(Thread.activeCount()).isLessThan(threads + 5);
            holds.forEach(Hold::close);
        }
    }

    private static List<Hold> many(LockClient client, HoldOptions options, int count) throws InterruptedException {
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            holds.add(client.lock("name-" + i, options).acquire());
        }
        return holds;
    }

    @Test
    void aClosedClientLeavesNoThread() throws Exception {
        List<Thread> others = threads();
        LockClient client = LockClient.connect("mem:");
        Hold hold = client.lock("a").acquire();
        hold.onLost(loss -> {});
        assertThat(client.lock("a").tryAcquire(Duration.ofMillis(1))).isEmpty();
        List<Thread> mine = new ArrayList<>(threads());
        mine.removeAll(others);
        assertThat(mine).isNotEmpty();
        client.close();
        await().until(() -> mine.stream().noneMatch(Thread::isAlive));
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("holdfast-")
                        && !thread.getName().startsWith("holdfast-memory"))
                .toList();
    }

    /** By reflection, since the sources are for JDK 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }
}
