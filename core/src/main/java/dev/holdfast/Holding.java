package dev.holdfast;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * The methods that a {@link Hold} of one lock and a {@link MultiHold} of several have in common.
 *
 * <pre>{@code
 * void whileHeld(Holding holding, Iterator<Batch> batches) {
 *     while (holding.isValid() && batches.hasNext()) {
 *         batches.next().process();
 *     }
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public sealed interface Holding extends AutoCloseable permits Hold, MultiHold {

    /** Whether everything is surely held right now; see {@link Hold#isValid()}. */
    boolean isValid();

    /** How long everything stays valid if no renewal succeeds; zero when it is not valid. */
    Duration remaining();

    /** How long ago everything was acquired, by this machine's clock; counts on after the end. */
    Duration heldFor();

    /** Runs an action once when it is lost; see {@link Hold#onLost}. */
    void onLost(Consumer<Loss> action);

    /**
     * Renews it for another lease where it is not renewed automatically; see {@link Hold#extend}.
     *
     * @param lease the new lease, 100 ms to 7 days
     * @throws HoldLostException if it is lost, or turns out to be
     * @throws StoreUnavailableException if the store did not answer
     * @throws IllegalStateException if it is renewed automatically, or closed
     */
    void extend(Duration lease);

    /** Keeps it for the life of the process; see {@link Hold#detach()}. */
    void detach();

    /**
     * Releases what is held; see {@link Hold#close()}. Closing twice does nothing.
     *
     * @throws HoldLostException once, if it was lost before
     * @throws IllegalMonitorStateException if it is re-entrant and belongs to another thread; it stays open
     */
    @Override
    void close();
}
