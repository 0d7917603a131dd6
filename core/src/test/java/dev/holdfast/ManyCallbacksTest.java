package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** More callbacks at once than a client has threads. */
@Timeout(120)
class ManyCallbacksTest {
    private static final int THREADS = 256;
    private static final int CALLBACKS = 300;
    private static final String FULL = "callbacks of futures of the client of mem: run or block at once";

    private final LockClient client =
            LockClient.builder(new MemoryStore().open()).build();
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final LogEar log = new LogEar();

    @AfterEach
    void closeClient() {
        end.countDown();
        client.close();
        log.close();
    }

    @Test
    @Tag("thorough")
    @EnabledForJreRange(max = JRE.JAVA_20, disabledReason = "further callbacks run on virtual threads")
    void furtherOnesWaitAndTheLogSaysSo() throws Exception {
        List<CompletableFuture<Void>> callbacks = blockedCallbacks();
        await().until(() -> begun.get() == THREADS);
        await().until(() -> log.with(FULL).size() == 1);
        end.countDown();
        all(callbacks);
        assertThat(begun).hasValue(CALLBACKS);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21 or later")
    void furtherOnesRunOnVirtualThreads() throws Exception {
        List<CompletableFuture<Void>> callbacks = blockedCallbacks();
        await().until(() -> begun.get() == CALLBACKS);
        assertThat(log.with(FULL)).isEmpty();
        end.countDown();
        all(callbacks);
    }

    @Test
    void thousandsOfShortOnesAreAllRun() throws Exception {
        List<CompletableFuture<Void>> callbacks = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            callbacks.add(client.lock("lock-" + i % 1_000).acquireAsync().thenAccept(Hold::close));
        }
        all(callbacks);
        assertThat(log.with(FULL)).isEmpty();
    }

    @Test
    void theThreadsHaveTheClassLoaderOfTheClientAndEndWithIt() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ClassLoader ours = new ClassLoader(before) {};
        Thread.currentThread().setContextClassLoader(ours);
        try (LockClient mine = LockClient.builder(new MemoryStore().open()).build()) {
            Thread.currentThread().setContextClassLoader(before);
            Hold first = mine.lock("a").acquire();
            CompletableFuture<ClassLoader> loader = mine.lock("a")
                    .acquireAsync()
                    .thenApply(hold -> {
                        threads.add(Thread.currentThread());
                        hold.close();
                        return Thread.currentThread().getContextClassLoader();
                    });
            first.close();
            assertThat(loader.get(30, TimeUnit.SECONDS)).isSameAs(ours);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        assertThat(threads).hasSize(1).allMatch(Thread::isDaemon);
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void anOutcomeAfterTheCloseStillArrives() throws Exception {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Hold> waiting = client.lock("a").acquireAsync();
        client.close();
        await().until(waiting::isCompletedExceptionally);
        assertThat(hold.isValid()).isFalse();
    }

    private List<CompletableFuture<Void>> blockedCallbacks() throws InterruptedException {
        List<CompletableFuture<Void>> callbacks = new ArrayList<>();
        for (int i = 0; i < CALLBACKS; i++) {
            DistributedLock lock = client.lock("lock-" + i);
            Hold first = lock.acquire();
            callbacks.add(lock.acquireAsync().thenAccept(hold -> {
                begun.incrementAndGet();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                hold.close();
            }));
            first.close();
        }
        return callbacks;
    }

    private static void all(List<CompletableFuture<Void>> callbacks) throws Exception {
        CompletableFuture.allOf(callbacks.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
    }
}
