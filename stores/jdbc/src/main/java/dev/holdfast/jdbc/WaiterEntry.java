package dev.holdfast.jdbc;

import dev.holdfast.spi.Mode;

/**
 * A place in the queue of a lock.
 *
 * @param id the claim
 * @param mode how it wants to hold
 * @param channel where its client is told that it is up
 * @param aliveUntil when it counts no more unless it was heard of again, microseconds of the database's clock
 */
record WaiterEntry(String id, Mode mode, String channel, long aliveUntil) {
    WaiterEntry until(long newEnd) {
        return new WaiterEntry(id, mode, channel, newEnd);
    }
}
