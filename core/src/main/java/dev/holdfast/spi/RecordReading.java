package dev.holdfast.spi;

import java.time.Instant;
import java.util.Optional;

/**
 * The record that a store keeps for a name, and its clock at the moment of reading.
 *
 * @param now the store's clock
 * @param stored the record; empty if there is none, or its time has passed
 */
public record RecordReading(Instant now, Optional<StoredRecord> stored) {
    /** The result of an admitted write: as it is read now; with a revision that no record has if another has written since. */
    public StoredRecord after(RecordWrite write) {
        return stored.filter(record ->
                        record.token() == write.token() && record.value().equals(write.value()))
                .orElseGet(() -> new StoredRecord(write.name(), write.token(), Long.MAX_VALUE, now, write.value()));
    }
}
