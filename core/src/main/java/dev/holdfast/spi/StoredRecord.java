package dev.holdfast.spi;

import java.time.Instant;

/**
 * A small value that a store keeps for a name, beside its lock and independently of it.
 *
 * @param name as the store knows it
 * @param token the fencing token under which it was written last
 * @param revision rises with each write of the name, also from a record that is gone to the next: at least 1, below {@link
 *     Long#MAX_VALUE}, and never the same twice
 * @param writtenAt when it was written last, by the store's clock
 * @param value what was written: text without control characters other than the tab, 1,500 characters at most
 */
public record StoredRecord(String name, long token, long revision, Instant writtenAt, String value) {}
