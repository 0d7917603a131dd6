package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The same for a store with leases: whatever is stored is known by the ids of claims, and any client may go on with it.
 * {@code watched} is held by 9, whose client asked to hear of waiters.
 */
public abstract class FrozenLeasesContract extends FrozenQueuesContract {
    /** How long a lock that was released is kept for the first in the queue at least, though it does not answer. */
    protected abstract Duration turn();

    @Override
    void writeMore(RawClient now) throws Exception {
        super.writeMore(now);
        patience.answer(now.store.watch(now.hold(claim(9, "watched", Mode.EXCLUSIVE))), "watch");
    }

    @Test
    void aWaiterIsServedBeforeARivalThatComesLater() throws Exception {
        RawClient.Queued rival = rivalBehindTheWaiter();
        Grant held = shown(2, "waited", Mode.EXCLUSIVE);

        long began = System.nanoTime();
        end(held);

        assertThat(rival.granted().number()).isGreaterThan(held.number());
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .as("the turn of the waiter, which does not answer")
                .isGreaterThanOrEqualTo(turn());
    }

    @Test
    void aWaiterThatAsksAgainUnderItsIdIsServed() throws Exception {
        put(Duration.ZERO);
        Grant held = shown(2, "waited", Mode.EXCLUSIVE);

        end(held);
        Grant next = client.await(claim(3, "waited", Mode.EXCLUSIVE)).granted();

        assertThat(next.number()).isGreaterThan(held.number());
        assertThat(client.waiting("waited")).isZero();
    }

    @Test
    void aWatchedLockIsWatchedAgainRenewedAndReleased() throws Exception {
        put(Duration.ZERO);
        Grant watched = shown(9, "watched", Mode.EXCLUSIVE);

        assertThat(patience.answer(client.store.watch(watched), "watch"))
                .as("whether others wait")
                .isFalse();
        assertThat(client.renew(watched).verdict()).isEqualTo(Verdict.HELD);
        assertThat(client.release(watched)).isTrue();
        assertThat(client.hold("watched").number()).isGreaterThan(watched.number());
    }
}
