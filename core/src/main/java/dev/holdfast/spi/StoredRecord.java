package dev.holdfast.spi;

import java.time.Instant;

/**
 * A small value that a store keeps for a name, beside its lock and independently of it.
 *
 * @param name as the store knows it
 * @param token the fencing token under which it was written last
 * @param revision counts the writes since the record was made, from 1
 * @param writtenAt when it was written last, by the store's clock
 * @param value what was written: text without control characters other than the tab, 1,500 characters at most
 */
public record StoredRecord(String name, long token, long revision, Instant writtenAt, String value) {}
