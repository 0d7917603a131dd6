package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Claims that were given up: nothing of them stays. Each case first proves that the claim had reached the store. */
abstract class AbandonedCases extends Cases {
    AbandonedCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void anInterruptedClaimLeavesNothing() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(name).acquire();
        LockClient client = rig.client();
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        Future<Boolean> interrupted = rig.fork(() -> {
            waiter.complete(Thread.currentThread());
            try (Hold unexpected = client.lock(name).acquire()) {
                throw new AssertionError("got " + unexpected);
            } catch (InterruptedException expected) {
                return true;
            }
        });
        raw.awaitWaiting(name, 1);

        waiter.join().interrupt();

        assertThat(rig.patience.result(interrupted, "the interrupted waiter")).isTrue();
        assertNothingLeftBut(hold, raw);
    }

    @Test
    void aClaimThatTimedOutLeavesNothing() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(name).acquire();
        LockClient client = rig.client();
        rig.unhurried(() -> {
            Future<Optional<Hold>> waiting = rig.fork(() -> client.lock(name).tryAcquire(rig.brief()));
            rig.patience.until("the claim to come or to end", () -> raw.seemsWaitedFor(name, 1) || waiting.isDone());
            boolean came = !waiting.isDone();

            assertThat(rig.patience.result(waiting, "the wait to end")).isEmpty();

            if (!came) {
                throw new Rig.TooSlow();
            }
        });
        assertNothingLeftBut(hold, raw);
    }

    @Test
    void aCancelledFutureLeavesNothing() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(name).acquire();
        CompletableFuture<Hold> future = rig.client().lock(name).acquireAsync();
        raw.awaitWaiting(name, 1);

        future.cancel(false);

        assertNothingLeftBut(hold, raw);
    }

    @Test
    void aClosedClientLeavesNothing() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(name).acquire();
        LockClient client = rig.client();
        CompletableFuture<Hold> future = client.lock(name).acquireAsync();
        raw.awaitWaiting(name, 1);

        client.close();

        assertThatThrownBy(() -> rig.patience.result(future, "the waiter of a closed client"))
                .isInstanceOf(ClientClosedException.class);
        assertNothingLeftBut(hold, raw);
    }

    @Test
    void aClaimWhoseAnswerIsLostLeavesNothing() {
        String name = rig.name();
        LossyStore line = new LossyStore(rig.store());
        LockClient client = rig.client(line);
        line.lose(true);

        assertThatThrownBy(() -> client.lock(name).tryAcquire().ifPresent(Hold::close))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(name);

        assertThat(line.lostGrants)
                .as("grants that the client never learned of")
                .hasSize(1);
        RawClient raw = rig.raw();
        raw.claimOnce(name); // at once, not when its lease of 30 s has run out
    }

    @Test
    void aWaitWhoseAnswerIsLostLeavesNothing() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(name).acquire();
        LossyStore line = new LossyStore(rig.store());
        line.lose(true);
        CompletableFuture<Hold> future = rig.client(line).lock(name).acquireAsync();
        raw.awaitWaiting(name, 1);

        hold.close();

        assertThatThrownBy(() -> rig.patience.result(future, "the answer that is lost"))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(line.lostGrants).hasSize(1);
        raw.claimOnce(name);
        assertThat(raw.waiting(name)).isZero();
    }

    @Test
    void waitsEndedInTheMomentOfTheGrantLoseNeither() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        LockClient one = rig.client();
        LockClient two = rig.client();
        for (int round = 0; round < rig.contract.rounds() / 2; round++) {
            Hold hold = one.lock(name).acquire();
            CompletableFuture<Hold> future = two.lock(name).acquireAsync();
            raw.awaitWaiting(name, 1);

            rig.race(hold::close, () -> future.cancel(false));

            if (!future.isCancelled()) {
                rig.patience.result(future, "the grant that won").close();
            }
            raw.claimOnce(name);
            raw.awaitWaiting(name, 0);
        }
    }

    @Test
    void aWaitThatTimesOutInTheMomentOfTheGrantLosesNeither() throws Exception {
        String name = rig.name();
        RawClient raw = rig.raw();
        LockClient one = rig.client();
        LockClient two = rig.client();
        HoldOptions options = HoldOptions.defaults();
        for (int round = 0; round < rig.contract.rounds() / 2; round++) {
            Hold hold = one.lock(name, options).acquire();
            Duration wait = Duration.ofMillis(1 + round % 10);

            rig.race(hold::close, () -> two.lock(name, options).tryAcquire(wait).ifPresent(Hold::close));

            raw.claimOnce(name);
            raw.awaitWaiting(name, 0);
        }
    }

    private void assertNothingLeftBut(Hold hold, RawClient raw) {
        raw.awaitWaiting(hold.name(), 0);
        assertThat(hold.isValid()).isTrue();
        hold.close();
        raw.claimOnce(hold.name());
    }
}
