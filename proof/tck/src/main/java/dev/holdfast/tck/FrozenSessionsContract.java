package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import org.junit.jupiter.api.Test;

/** The same for a store whose grants and places in queues end with the session of their client. */
public abstract class FrozenSessionsContract extends FrozenQueuesContract {
    /** Ends the session of the client that put everything into the server. */
    @Override
    protected abstract void end(Grant grant) throws Exception;

    @Test
    void aWaiterHoldsBeforeARivalThatComesLaterAndUntilItsSessionEnds() throws Exception {
        RawClient.Queued rival = rivalBehindTheWaiter();
        Grant held = shown(2, "waited", Mode.EXCLUSIVE);

        assertThat(client.release(held)).isTrue();
        Grant next = shown(3, "waited", Mode.EXCLUSIVE);
        assertThat(next.number()).isGreaterThan(held.number());
        assertThat(rival.isAnswered()).isFalse();
        end(next);

        assertThat(rival.granted().number()).isGreaterThan(next.number());
    }
}
