package dev.holdfast.spi;

import java.time.Instant;
import java.util.Optional;

/**
 * What a store keeps for a name, and its clock at the moment of reading.
 *
 * @param now the store's clock
 * @param stored the record; empty if there is none, or its time has passed
 */
public record RecordReading(Instant now, Optional<StoredRecord> stored) {}
