package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DistributedLockTest {
    private final MemoryStore memory = new MemoryStore();
    private final LockClient one = LockClient.builder(memory.open()).build();
    private final LockClient two = LockClient.builder(memory.open()).build();

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void aHeldLockIsNotToBeHadByAnotherClientOrByTheSameOne() throws InterruptedException {
        try (Hold hold = one.lock("a").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(hold.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(30));
            assertThat(one.lock("a").tryAcquire()).isEmpty();
            assertThat(two.lock("a").tryAcquire()).isEmpty();
            assertThat(two.lock("b").tryAcquire()).isPresent();
        }
        assertThat(two.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void tokensRiseFromHoldToHoldAndStayFixed() throws InterruptedException {
        long last = 0;
        for (int i = 0; i < 100; i++) {
            LockClient client = i % 3 == 0 ? one : two;
            try (Hold hold = client.lock("a").acquire()) {
                assertThat(hold.token()).isGreaterThan(last).isEqualTo(hold.token());
                last = hold.token();
            }
        }
    }

    @Test
    void manyThreadsOfTwoClientsExcludeEachOtherAndTokensRiseInTheirOrder() throws Exception {
        List<Long> tokens = new ArrayList<>(); // guarded by the lock under test
        ExecutorService pool = Executors.newFixedThreadPool(16);
        List<Future<?>> done = new ArrayList<>();
        for (int t = 0; t < 16; t++) {
            LockClient client = t % 2 == 0 ? one : two;
            done.add(pool.submit(() -> {
                for (int i = 0; i < 500; i++) {
                    try (Hold hold = client.lock("a").acquire()) {
                        tokens.add(hold.token());
                    }
                }
                return null;
            }));
        }
        for (Future<?> each : done) {
            each.get(20, TimeUnit.SECONDS);
        }
        pool.shutdown();
        assertThat(tokens).hasSize(16 * 500).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aWaiterThatTimesOutLeavesTheLockToOthers() throws InterruptedException {
        Hold hold = one.lock("a").acquire();
        assertThat(two.lock("a").tryAcquire(Duration.ofMillis(20))).isEmpty();
        assertThat(one.lock("a").tryAcquire(Duration.ofMillis(20))).isEmpty();
        assertThat(one.lock("a").status().waiting()).isZero();
        hold.close();
        Optional<Hold> next = two.lock("a").tryAcquire(Duration.ofSeconds(5));
        assertThat(next).isPresent();
        next.get().close();
    }

    @Test
    void aFutureHoldsTheLockWhenItCompletes() throws Exception {
        Hold hold = one.lock("a").acquire();
        CompletableFuture<Void> mine = one.lock("a").acquireAsync().thenAccept(Hold::close);
        CompletableFuture<Void> others = two.lock("a").acquireAsync().thenAccept(Hold::close);
        assertThat(mine).isNotDone();
        assertThat(others).isNotDone();
        hold.close();
        CompletableFuture.allOf(mine, others).get(5, TimeUnit.SECONDS);
    }

    @Test
    void closingTwiceDoesNothing() throws InterruptedException {
        Hold hold = one.lock("a").acquire();
        hold.close();
        hold.close();
        Hold next = two.lock("a").acquire();
        hold.close();
        assertThat(next.isValid()).isTrue();
        next.close();
    }

    @Test
    void anInterruptedWaiterHoldsNothing() throws Exception {
        Hold hold = one.lock("a").acquire();
        CountDownLatch interrupted = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            try (Hold unexpected = two.lock("a").acquire()) {
                throw new AssertionError("got " + unexpected);
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
        });
        waiter.start();
        await().until(() -> one.lock("a").status().waiting() == 1);
        waiter.interrupt();
        assertThat(interrupted.await(5, TimeUnit.SECONDS)).isTrue();
        waiter.join();
        await().until(() -> one.lock("a").status().waiting() == 0);
        hold.close();
        assertThat(one.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aClosedClientSaysSo() {
        DistributedLock lock = one.lock("a");
        one.close();
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(ClientClosedException.class)
                .hasMessageContaining("mem:");
        assertThatThrownBy(() -> one.lock("b")).isInstanceOf(ClientClosedException.class);
    }
}
