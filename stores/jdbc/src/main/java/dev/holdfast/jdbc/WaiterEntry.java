package dev.holdfast.jdbc;

import dev.holdfast.spi.Mode;

/**
 * A place in the queue of a lock.
 *
 * @param id the claim
 * @param mode how it wants to hold
 * @param channel where its client is notified that it is its turn
 * @param aliveUntil until when it counts unless it polls again, microseconds of the database's clock
 */
record WaiterEntry(String id, Mode mode, String channel, long aliveUntil) {
    WaiterEntry until(long newEnd) {
        return new WaiterEntry(id, mode, channel, newEnd);
    }
}
