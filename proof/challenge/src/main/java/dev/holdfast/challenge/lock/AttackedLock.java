package dev.holdfast.challenge.lock;

import dev.holdfast.spi.Mode;
import java.util.function.BooleanSupplier;

/**
 * A lock as one worker uses it, turn by turn. Locking, working and unlocking are one method, so that any library fits: with
 * handles, with threads that own locks, with a block of code.
 *
 * <p>For one thread.
 */
public interface AttackedLock extends AutoCloseable {
    /** How a turn ended. */
    enum Result {
        /** The lock was not had, and nothing was done. */
        BUSY,
        /** The work was done, and the lock released. */
        DONE,
        /** The work was done, and the library says that the lock was lost meanwhile. */
        LOST,
        /** The same, and the library records the work as done nevertheless. */
        RECORDED
    }

    /**
     * What is known of a hold.
     *
     * @param token its fencing token, 0 where there is none
     * @param period the period of a job, 0 elsewhere
     * @param valid whether the library says that it is still held; one that cannot tell says yes
     */
    record Grip(long token, long period, BooleanSupplier valid) {
        /** A hold of which nothing is known. */
        static final Grip UNTOLD = new Grip(0, 0, () -> true);

        /** Asks now. */
        public boolean isValid() {
            return valid.getAsBoolean();
        }
    }

    /** What a holder does. */
    interface Work {
        /** Does it. */
        void run(Grip grip) throws Exception;
    }

    /** Acquires the lock, does the work, releases the lock. */
    Result turn(Mode mode, Work work) throws Exception;

    /** Frees what is this lock's alone; its client is the worker's. */
    @Override
    default void close() throws Exception {}
}
