package dev.holdfast.jdbc;

import dev.holdfast.spi.Claim;

/**
 * How waiting claims hear that something has changed, and what they then see. Reads only: a waiting claim takes no write
 * lock before its turn.
 *
 * <p>For one thread.
 */
interface ChangeSource extends AutoCloseable {

    /**
     * Pauses until something may have changed, the thread is unparked, or it is time to look anyway.
     *
     * @param ahead how many are before the foremost of the waiting claims: who is next listens closest
     * @param atMostNanos when something is due
     * @return whether something has changed since the last call; always true at the first
     */
    boolean await(int ahead, long atMostNanos);

    /** How a waiting claim stands. */
    Turn look(Claim claim, long place);

    @Override
    void close();

    /**
     * How a waiting claim stands.
     *
     * @param lost whether its place in the queue is gone: it must enter again
     * @param ahead how many live claims are before it
     * @param nanos how long until it may try even if nothing changes, by the store's clock: 0 for now
     */
    record Turn(boolean lost, int ahead, long nanos) {
        static final Turn LOST = new Turn(true, 0, 0);
    }
}
