package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Claim;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Several names, all or none. */
class MultiLockTest extends EngineCase {
    private final DistributedMultiLock lock = client.multiLock(List.of("c", "a", "b"), lease(10));

    @Test
    void allAreHeldTogetherAndGivenBackTogether() throws Exception {
        MultiHold hold = lock.acquire();
        assertThat(hold.names()).containsExactly("a", "b", "c");
        assertThat(hold.isValid()).isTrue();
        for (String name : hold.names()) {
            assertThat(hold.token(name)).isPositive();
            assertThat(hold.id(name)).matches("[0-9a-f]{32}");
            assertThat(rival.lock(name).tryAcquire()).as(name).isEmpty();
        }
        hold.close();
        hold.close();
        assertThat(rival.multiLock(List.of("a", "b", "c")).tryAcquire()).hasValueSatisfying(MultiHold::close);
    }

    @Test
    void noneIsHeldWhereOneIsTaken() throws Exception {
        try (Hold taken = rival.lock("b").acquire()) {
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(taken.isValid()).isTrue();
            assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
            assertThat(rival.lock("c").tryAcquire()).hasValueSatisfying(Hold::close);
        }
    }

    @Test
    void theRequestsForFreeNamesLeaveTogether() throws Exception {
        HostileStore.HoldReply answers = new HostileStore.HoldReply();
        line.claims = answers;
        Started<MultiHold> hold = start(lock::acquire);
        soon(() -> line.claimed.size() == 3);
        assertThat(line.claimed.stream().map(Claim::name)).containsExactly("a", "b", "c");
        answers.open.complete(null);
        line.claims = HostileStore.PASS;
        hold.result().close();
    }

    @Test
    void whileOneIsWaitedForNoneBehindItIsKept() throws Exception {
        Hold taken = rival.lock("b").acquire();
        Started<MultiHold> waiting = startAndWaitUntilItWaits(lock::acquire);
        assertThat(rival.lock("a").tryAcquire()).as("the one before is kept").isEmpty();
        assertThat(rival.lock("c").tryAcquire()).as("the one behind is not").hasValueSatisfying(Hold::close);
        taken.close();
        waiting.result().close();
    }

    @Test
    void theTimeCountsForAllTogetherAndAllIsUndoneWhenItHasPassed() throws Exception {
        Hold taken = rival.lock("c").acquire();
        Started<Boolean> waiting =
                startAndWaitUntilItWaits(() -> lock.tryAcquire(s(5)).isPresent());
        time.advance(s(6));
        assertThat(waiting.result()).isFalse();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        assertThat(rival.lock("b").tryAcquire()).hasValueSatisfying(Hold::close);
        taken.close();
    }

    @Test
    void anInterruptUndoesAll() throws Exception {
        Hold taken = rival.lock("c").acquire();
        Started<MultiHold> waiting = startAndWaitUntilItWaits(lock::acquire);
        waiting.thread().interrupt();
        assertThatThrownBy(waiting::result).hasCauseInstanceOf(InterruptedException.class);
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        taken.close();
    }

    @Test
    void aFailureUndoesAll() {
        line.claimOverride = (claim, answer) -> {
            if (claim.name().equals("b")) {
                throw new StoreUnavailableException("gone");
            }
            return line.real.claim(claim, answer);
        };
        assertThatThrownBy(() -> lock.acquire()).isInstanceOf(StoreUnavailableException.class);
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        assertThat(rival.lock("c").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void oneLostIsAllLost() throws Exception {
        MultiHold hold = lock.acquire();
        hold.onLost(losses::add);
        Breaking.shown(rival, "b", true);
        Breaking.shown(rival, "c", true);
        advance(4, s(1));
        soon(() -> !losses.isEmpty());
        assertThat(hold.isValid()).isFalse();
        assertThat(hold.remaining()).isZero();
        assertThatThrownBy(hold::close)
                .isInstanceOf(HoldLostException.class)
                .satisfies(lost -> assertThat(lost.getSuppressed()).hasSize(1));
        assertThat(losses).as("told once").hasSize(1);
        assertThat(rival.lock("a").tryAcquire()).as("given back by the close").hasValueSatisfying(Hold::close);
    }

    @Test
    void whatWasLostWhileAnotherWasWaitedForIsLockedAgain() throws Exception {
        Hold taken = rival.lock("b").acquire();
        Started<MultiHold> waiting = startAndWaitUntilItWaits(lock::acquire);
        Breaking.shown(rival, "a", true);
        advance(4, s(1));
        taken.close();
        MultiHold hold = waiting.result();
        assertThat(hold.isValid()).isTrue();
        hold.close();
    }

    @Test
    void multiLocksThatCrossEachOtherDoNotDeadlock() throws Exception {
        DistributedMultiLock other = rival.multiLock(List.of("b", "a"), lease(10));
        Started<Void> one = start(() -> {
            for (int i = 0; i < 2_000; i++) {
                lock.acquire().close();
            }
            return null;
        });
        for (int i = 0; i < 2_000; i++) {
            other.acquire().close();
        }
        one.result();
    }

    @Test
    void aFutureAcquiresAllOrNone() {
        CompletableFuture<MultiHold> free = lock.acquireAsync();
        assertThat(free.join().isValid()).isTrue();
        CompletableFuture<MultiHold> waiting =
                rival.multiLock(List.of("b", "z")).acquireAsync();
        assertThat(waiting).isNotDone();
        free.join().close();
        assertThat(waiting.join().names()).containsExactly("b", "z");
        waiting.join().close();
    }

    @Test
    void aFutureThatIsCancelledLeavesNothingBehind() throws Exception {
        Hold taken = rival.lock("b").acquire();
        CompletableFuture<MultiHold> waiting = lock.acquireAsync();
        assertThat(rival.lock("a").tryAcquire())
                .as("held while b is waited for")
                .isEmpty();
        waiting.cancel(false);
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        assertThat(rival.lock("b").status().waiting()).isZero();
        taken.close();
        assertThat(rival.lock("b").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aFutureFailsWholeWhereOneFails() {
        line.claimOverride = (claim, answer) -> {
            if (claim.name().equals("c")) {
                throw new StoreUnavailableException("gone");
            }
            return line.real.claim(claim, answer);
        };
        assertThat(lock.acquireAsync())
                .failsWithin(s(10))
                .withThrowableThat()
                .withCauseInstanceOf(StoreUnavailableException.class);
        assertThat(rival.multiLock(List.of("a", "b")).tryAcquire()).hasValueSatisfying(MultiHold::close);
    }

    @Test
    void namesThatMakeNoSenseAreRefusedAtOnce() {
        assertThatThrownBy(() -> client.multiLock(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.multiLock(List.of("a", ""))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.multiLock(List.of("a", "b", "a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a'");
        assertThatThrownBy(() -> client.multiLock(
                        IntStream.range(0, 101).mapToObj(i -> "n" + i).toList()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("100");
    }
}
