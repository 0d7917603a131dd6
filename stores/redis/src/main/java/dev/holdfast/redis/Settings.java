package dev.holdfast.redis;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/**
 * The settings of a store, for every kind of servers.
 *
 * @param timeout after this a request is answered with {@link dev.holdfast.StoreUnavailableException}
 * @param poll how often the first in a queue polls when nothing happens
 * @param replicas how many replicas must confirm a grant
 */
record Settings(TimeSource time, Duration timeout, Duration poll, int replicas) {
    /** The part of the timeout that the server waits for its replicas: a call may have to wait for two of them. */
    private static final int PART = 4;

    Acks acks() {
        return replicas == 0 ? Acks.NONE : new Acks(replicas, timeout.dividedBy(PART));
    }
}
