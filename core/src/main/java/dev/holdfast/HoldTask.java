package dev.holdfast;

/**
 * The work done while a lock is held, with a result; see {@link DistributedLock#call(HoldTask)}.
 *
 * <pre>{@code
 * Receipt receipt = lock.call(hold -> orders.charge(42, hold.token()));
 * }</pre>
 *
 * @param <H> what is held: {@link Hold}, or {@link MultiHold} for several locks
 * @param <T> the result
 * @param <E> what it may throw; unchecked exceptions alone unless the task throws others
 */
@FunctionalInterface
public interface HoldTask<H extends Holding, T, E extends Exception> {

    /**
     * Does the work.
     *
     * @param hold what is held, closed by the caller of this method afterwards
     */
    T call(H hold) throws E;
}
