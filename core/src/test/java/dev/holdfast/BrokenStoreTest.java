package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A store that breaks its contract, or is hardly quick enough: that ends one call, and no later one waits for ever. */
class BrokenStoreTest extends EngineCase {

    @Test
    void aGrantNumberThatMakesNoTokenIsRefusedAndNothingIsKept() throws Exception {
        line.grantMap = grant -> new Grant(
                grant.id(), grant.name(), grant.mode(), grant.lease(), Long.MAX_VALUE / 1024, grant.sentNanos());
        assertThatThrownBy(() -> client.lock("a").acquire()).isInstanceOf(StoreRefusedException.class);
        int before = line.renewed.size();
        advance(10, s(10));
        assertThat(line.renewed).as("renewals of a grant nobody has").hasSize(before);
        assertThat(rival.lock("a").tryAcquire()).as("free again").isPresent();
    }

    @Test
    void aLeaseThatNobodyAskedForIsRefusedAndNotAskedForAgain() {
        line.grantMap = grant -> grant.withLease(s(7));
        assertRefused(client.lock("a"));
        assertRefused(client.readWriteLock("b").read());
        assertThatThrownBy(() -> client.semaphore("c", 2).acquire()).isInstanceOf(StoreRefusedException.class);
        assertThat(line.claimed).as("claims sent").hasSize(3);
    }

    private static void assertRefused(DistributedLock lock) {
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContainingAll(lock.name(), "7s", "30s");
    }

    @Test
    void anErrorAtAClaimFailsItsCallerAndServesTheNext() throws Exception {
        line.claimOverride = (claim, answer) -> {
            throw new NoClassDefFoundError("com/example/Driver");
        };
        assertOneFailsAndTheNextIsServed();
    }

    @Test
    void aFailureThatCannotBeReadFailsItsCallerAsAnyOther() {
        line.claimOverride = (claim, answer) -> {
            throw new UnreadableException();
        };
        assertThatThrownBy(() -> client.lock("a").acquire())
                .isInstanceOf(HoldfastException.class)
                .hasMessageContainingAll("'a'", UnreadableException.class.getName());
    }

    @Test
    void nullInsteadOfAPendingClaimFailsItsCallerAndServesTheNext() throws Exception {
        line.claimOverride = (claim, answer) -> null;
        assertOneFailsAndTheNextIsServed();
    }

    private void assertOneFailsAndTheNextIsServed() throws InterruptedException {
        assertThatThrownBy(() -> client.lock("a").acquire()).isNotInstanceOf(InterruptedException.class);
        line.claimOverride = null;
        try (Hold next = client.lock("a").acquire()) {
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void aCancelThatThrowsEndsATimedWaitAllTheSame() throws Exception {
        try (Hold theirs = rival.lock("a").acquire()) {
            line.onCancel = () -> {
                throw new StoreUnavailableException("connection closed");
            };
            Started<Optional<Hold>> waiter =
                    startAndWaitUntilItWaits(() -> client.lock("a").tryAcquire(s(1)));
            time.advance(s(2));
            assertThatThrownBy(waiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
            assertThat(theirs.isValid()).isTrue();
        }
    }

    @Test
    void aClaimThatIsNeverAnsweredAndWhoseCancelThrowsKeepsNoLaterCallerWaiting() throws Exception {
        line.claimOverride = (claim, answer) -> () -> {
            throw new OutOfMemoryError("no thread to cancel on");
        };
        Started<Optional<Hold>> waiter =
                startAndWaitUntilItWaits(() -> client.lock("a").tryAcquire(s(1)));
        time.advance(s(2));
        assertThatThrownBy(waiter::result).isNotInstanceOf(InterruptedException.class);
        line.claimOverride = null;

        assertThat(client.lock("a").acquireAsync()).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    void nullInsteadOfAFreshNumberKeepsNobodyWaiting() throws Exception {
        HoldOptions strict = HoldOptions.defaults().strictFifo(true);
        Hold hold = client.lock("a", strict).acquire();
        CompletableFuture<Hold> next = client.lock("a", strict).acquireAsync();
        line.extends_ = new AnswersNull();
        hold.close();
        advance(60, s(1));
        assertThat(next).isDone();
    }

    @Test
    void afterNullInsteadOfVerdictsAHoldIsRenewedOn() throws Exception {
        Hold hold = client.lock("a").acquire();
        line.renews = new AnswersNull();
        time.advance(s(10.1));
        line.renews = HostileStore.PASS;
        advance(60, s(1));
        assertThat(hold.isValid()).as("one bad answer, then good ones").isTrue();
    }

    @Test
    void answersThatProveNothingNewMakeNoStormOfRenewals() throws Exception {
        Hold hold = client.lock("a").acquire();
        AtomicInteger count = new AtomicInteger();
        line.renews = new HostileStore.Gate() {
            @SuppressWarnings("unchecked") // renewals alone come through this gate
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                if (count.incrementAndGet() > 10_000) {
                    throw new IllegalStateException("storm");
                }
                return request.get().thenApply(verdicts -> (T) stamped((Map<ClaimId, Renewal>) verdicts));
            }
        };
        time.advance(s(10.01));
        assertThat(count.get()).as("renewals in no time").isBetween(1, 100);
        assertThat(hold.isValid()).isTrue();
    }

    /** As if all had been sent at the beginning of time. */
    private static Map<ClaimId, Renewal> stamped(Map<ClaimId, Renewal> verdicts) {
        Map<ClaimId, Renewal> stamped = new HashMap<>();
        verdicts.keySet().forEach(id -> stamped.put(id, Renewal.held(0, false)));
        return stamped;
    }

    @Test
    void aStoreThatAnswersBetweenTwoThirdsOfALeaseAndALeaseGrantsInTheEnd() throws Exception {
        HostileStore.Gate slow = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                CompletableFuture<T> late = new CompletableFuture<>();
                CompletionStage<T> done = request.get();
                time.schedule(() -> done.thenAccept(late::complete), s(0.7));
                return late;
            }
        };
        line.claims = slow;
        line.renews = slow;
        CompletableFuture<Hold> next =
                client.lock("a", HoldOptions.defaults().lease(s(1))).acquireAsync();
        advance(600, s(0.1));
        assertThat(next)
                .as("after a minute, " + line.claimed.size() + " claims, " + line.renewed.size() + " renewals")
                .isDone();
    }

    /** A store that answers, but with nothing. */
    private static final class AnswersNull implements HostileStore.Gate {
        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
