package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Thousands of waiters whose callbacks close on the thread that served them: each is served, on a stack of its own. */
@Timeout(120)
class SameThreadExecutorTest {
    private static final int WAITERS = 3_000;
    private static final HoldOptions WIDE = HoldOptions.defaults().handOver(1_023, Duration.ofSeconds(9));
    private static final HoldOptions RETAINED = HoldOptions.defaults().retain(Duration.ofMinutes(1));

    private final LockClient client =
            LockClient.builder(new MemoryStore().open()).executor(Runnable::run).build();

    @AfterEach
    void closeClient() {
        client.close();
    }

    @Test
    void ofALockThatIsHandedOverWidely() throws Exception {
        DistributedLock lock = client.lock("a", WIDE);
        allAreServed(lock.acquire(), lock::acquireAsync);
    }

    @Test
    void ofARetainedLock() throws Exception {
        DistributedLock lock = client.lock("a", RETAINED);
        allAreServed(lock.acquire(), lock::acquireAsync);
    }

    @Test
    void withATimeLimit() throws Exception {
        DistributedLock lock = client.lock("a", WIDE);
        allAreServed(
                lock.acquire(),
                () -> lock.tryAcquireAsync(Duration.ofMinutes(5)).thenApply(got -> got.orElseThrow()));
    }

    @Test
    void ofWritersAmongReaders() throws Exception {
        DistributedReadWriteLock lock = client.readWriteLock("a", WIDE);
        allAreServed(lock.write().acquire(), new Supplier<>() {
            private int count;

            @Override
            public CompletableFuture<Hold> get() {
                return count++ % 2 == 0
                        ? lock.read().acquireAsync()
                        : lock.write().acquireAsync();
            }
        });
    }

    @Test
    void ofPermits() throws Exception {
        DistributedSemaphore semaphore = client.semaphore("a", 2, WIDE);
        allAreServed(semaphore.acquire(2), semaphore::acquireAsync);
    }

    @Test
    void ofSeveralLocksTogether() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            names.add("lock-" + i);
        }
        DistributedMultiLock locks = client.multiLock(names, WIDE);
        MultiHold first = locks.acquire();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            served.add(locks.acquireAsync().thenAccept(MultiHold::close));
        }
        first.close();
        await(served);
    }

    @Test
    void ofAPoolThatRunsOnTheCallerWhatItHasNoThreadFor() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                1, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), new ThreadPoolExecutor.CallerRunsPolicy());
        try (LockClient mine =
                LockClient.builder(new MemoryStore().open()).executor(pool).build()) {
            DistributedLock lock = mine.lock("a", WIDE);
            allAreServed(lock.acquire(), lock::acquireAsync);
        } finally {
            pool.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    void ofAnExecutorThatRefusesNowAndThen(int each) throws Exception {
        int[] tasks = {0}; // one at a time
        Executor moody = task -> {
            if (tasks[0]++ % each == 0) {
                throw new RejectedExecutionException("full");
            }
            task.run();
        };
        try (LockClient mine =
                LockClient.builder(new MemoryStore().open()).executor(moody).build()) {
            DistributedLock lock = mine.lock("a", WIDE);
            allAreServed(lock.acquire(), lock::acquireAsync);
        }
    }

    @Test
    void aCallbackMayWaitForAnotherFuture() throws Exception {
        CompletableFuture<Void> all = nested(200);
        all.get(30, TimeUnit.SECONDS);
    }

    private CompletableFuture<Void> nested(int depth) {
        DistributedLock lock = client.lock("level-" + depth);
        Hold first = lock.tryAcquire().orElseThrow();
        CompletableFuture<Void> done = lock.acquireAsync().thenAccept(hold -> {
            if (depth > 0) {
                nested(depth - 1).join();
            }
            hold.close();
        });
        first.close();
        return done;
    }

    @Test
    void theFirstOnesAreServedOnTheClosingThread() throws Exception {
        Hold first = client.lock("a").acquire();
        CompletableFuture<Thread> on = client.lock("a").acquireAsync().thenApply(hold -> {
            hold.close();
            return Thread.currentThread();
        });
        first.close();
        assertThat(on).isCompletedWithValue(Thread.currentThread());
    }

    private static void allAreServed(Hold first, Supplier<CompletableFuture<Hold>> acquire) throws Exception {
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            served.add(acquire.get().thenAccept(Hold::close));
        }
        first.close();
        await(served);
    }

    private static void await(List<CompletableFuture<Void>> served) throws Exception {
        try {
            CompletableFuture.allOf(served.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        } catch (TimeoutException some) {
            assertThat(served.stream().filter(CompletableFuture::isDone).count())
                    .as("served")
                    .isEqualTo(served.size());
        }
    }
}
