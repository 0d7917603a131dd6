package dev.holdfast;

/**
 * The work done while a lock is held, without a result; see {@link DistributedLock#run(HoldAction)}.
 *
 * <pre>{@code
 * lock.run(hold -> orders.charge(42, hold.token()));
 * }</pre>
 *
 * @param <H> what is held: {@link Hold}, or {@link MultiHold} for several locks
 * @param <E> what it may throw; unchecked exceptions alone unless the action throws others
 */
@FunctionalInterface
public interface HoldAction<H extends Holding, E extends Exception> {

    /**
     * Does the work.
     *
     * @param hold what is held, closed by the caller of this method afterwards
     */
    void run(H hold) throws E;
}
