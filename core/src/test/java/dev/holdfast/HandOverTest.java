package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Passing a grant to the next local waiter, and when that ends. */
class HandOverTest extends BadLineCase {
    private static final int TOKENS_PER_GRANT = 1024;

    @Test
    void localWaitersShareAGrantUpToTheBound() throws Exception {
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        Hold hold = client.lock("a").acquire();
        queue(waiting, 200, HoldOptions.defaults());
        assertThat(rival.lock("a").status().waiting())
                .as("waiters in the store")
                .isZero();
        List<Long> tokens = new ArrayList<>(List.of(hold.token()));
        while (!waiting.isEmpty()) {
            hold.close();
            hold = waiting.removeFirst().getNow(null);
            tokens.add(hold.token());
        }
        hold.close();
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(tokens.stream().filter(token -> token % TOKENS_PER_GRANT == 64))
                .as("grants used to the bound")
                .hasSize(3);
        assertThat(tokens).noneMatch(token -> token % TOKENS_PER_GRANT > 64);
        assertThat(line.claimRequests).hasValue(1);
        assertThat(line.extendRequests).hasValue(3);
    }

    @Test
    void anotherClientThatWaitsGetsInAtTheBound() throws Exception {
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        HoldOptions options = HoldOptions.defaults().handOver(2, Duration.ofSeconds(1));
        Hold hold = client.lock("a", options).acquire();
        queue(waiting, 4, options);
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        long last = hold.token();
        for (int i = 0; i < 2; i++) {
            hold.close();
            hold = waiting.removeFirst().getNow(null);
            assertThat(hold.token()).isEqualTo(++last);
            assertThat(others).isNotDone();
        }
        hold.close();
        assertThat(waiting.getFirst())
                .as("back to the end of the store's queue")
                .isNotDone();
        Hold rivals = others.getNow(null);
        assertThat(rivals.token()).isGreaterThan(last);
        rivals.close();
        assertThat(waiting.getFirst().getNow(null).token()).isGreaterThan(rivals.token());
    }

    @Test
    void theTimeBoundEndsHandOverToo() throws Exception {
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        Hold hold = client.lock("a").acquire();
        queue(waiting, 1, HoldOptions.defaults());
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        time.advance(Duration.ofMillis(6));
        hold.close();
        assertThat(waiting.getFirst()).isNotDone();
        assertThat(others).isDone();
    }

    @Test
    void strictFifoGoesThroughTheStoreEachTime() throws Exception {
        HoldOptions strict = HoldOptions.defaults().strictFifo(true);
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        Hold hold = client.lock("a", strict).acquire();
        queue(waiting, 1, strict);
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        hold.close();
        assertThat(waiting.getFirst()).isNotDone();
        others.getNow(null).close();
        assertThat(waiting.getFirst()).isDone();
    }

    @Test
    void aGrantWithLittleLeaseLeftIsRenewedBeforeItIsHandedOver() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).handOver(64, Duration.ofMinutes(1));
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        Hold hold = client.lock("a", fixed).acquire();
        queue(waiting, 1, fixed);
        time.advance(Duration.ofSeconds(25));
        hold.close();
        assertThat(line.renewalRequests).hasValue(1);
        assertThat(waiting.getFirst().getNow(null).remaining()).isGreaterThan(Duration.ofSeconds(29));
    }

    @Test
    void aWaiterWithAnotherLeaseGetsItsOwn() throws Exception {
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        Hold hold = client.lock("a").acquire();
        queue(waiting, 1, HoldOptions.defaults().lease(Duration.ofSeconds(5)));
        queue(waiting, 1, HoldOptions.defaults().lease(Duration.ofSeconds(90)).autoRenew(false));
        hold.close();
        Hold five = waiting.removeFirst().getNow(null);
        assertThat(five.remaining()).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(5));
        five.close();
        Hold ninety = waiting.removeFirst().getNow(null);
        assertThat(ninety.remaining()).isBetween(Duration.ofSeconds(89), Duration.ofSeconds(90));
        time.advance(Duration.ofSeconds(91));
        assertThat(ninety.isValid()).as("not renewed").isFalse();
    }

    @Test
    void aLostGrantIsNotHandedOver() throws Exception {
        Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false);
        Hold hold = client.lock("a", fixed).acquire();
        queue(waiting, 1, fixed);
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        time.advance(Duration.ofSeconds(30));
        assertThat(hold.isValid()).isFalse();
        assertThat(others).as("first in the store's queue").isDone();
        assertThat(waiting.getFirst()).isNotDone();
        others.getNow(null).close();
        assertThat(waiting.getFirst().getNow(null).isValid()).isTrue();
    }

    @Test
    void afterAFailedExtendTheNextTokenIsStillHigher() throws Exception {
        HoldOptions strict = HoldOptions.defaults().strictFifo(true);
        for (UnreliableStore.Line fault : UnreliableStore.Line.values()) {
            Deque<CompletableFuture<Hold>> waiting = new ArrayDeque<>();
            Hold hold = client.lock("a", strict).acquire();
            queue(waiting, 1, strict);
            line.extensions = fault;
            hold.close();
            Hold next = waiting.removeFirst().getNow(null);
            assertThat(next.token()).isGreaterThan(hold.token());
            next.close();
        }
    }

    @Test
    void aCancelledFutureGivesUpItsPlace() throws Exception {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Hold> given = client.lock("a").acquireAsync();
        CompletableFuture<Hold> next = client.lock("a").acquireAsync();
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        assertThat(rival.lock("a").status().waiting()).isEqualTo(1);
        given.cancel(false);
        others.cancel(false);
        assertThat(rival.lock("a").status().waiting()).isZero();
        hold.close();
        assertThat(next.getNow(null).isValid()).isTrue();
    }

    @Test
    void manyFuturesThatCloseInTheirCallbacksDoNotGrowTheStack() throws Exception {
        LockClient pooled = LockClient.builder(memory.open(time)).time(time).build();
        Hold hold = pooled.lock("a").acquire();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            all.add(pooled.lock("a").acquireAsync().thenAccept(Hold::close));
        }
        hold.close();
        await().until(() -> all.stream().allMatch(CompletableFuture::isDone));
        assertThat(all).noneMatch(CompletableFuture::isCompletedExceptionally);
        pooled.close();
    }

    private void queue(Deque<CompletableFuture<Hold>> waiting, int count, HoldOptions options) {
        for (int i = 0; i < count; i++) {
            waiting.add(client.lock("a", options).acquireAsync());
        }
    }
}
