package dev.holdfast.ladder;

/**
 * A lock as a textbook writes it, on some store. Locking, working and unlocking are one method, since what a rung does
 * around the work is what tells it from the next.
 *
 * <pre>{@code
 * try (Rung rung = new SetNx(url)) {
 *     boolean done = rung.run("stock:7", token -> sell());
 * }
 * }</pre>
 *
 * <p>Every instance is a client of its own: two of them are two processes, as far as the store can see. A rung has a
 * public constructor that takes the URL of its store, so that a test can run it in a process to kill.
 */
public interface Rung extends AutoCloseable {
    /** What work is given where the lock has no fencing token. */
    long NO_TOKEN = 0;

    /** What is to be done by one at a time. */
    @FunctionalInterface
    interface Work {
        /**
         * Does it.
         *
         * @param token the fencing token of the lock, or {@link Rung#NO_TOKEN}
         */
        void run(long token);
    }

    /**
     * Does the work while it has the lock, as far as this rung can tell. A rung that does not know how to wait tries
     * once.
     *
     * @return whether the work was done; false when the lock was taken
     */
    boolean run(String name, Work work);

    /** Ends the connection to the store, and nothing else. */
    @Override
    void close();
}
