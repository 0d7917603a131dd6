package dev.holdfast.spi;

import java.time.Duration;

/**
 * A value to be kept for a name, or the removal of the one that is kept.
 *
 * @param name as the store knows it
 * @param token the fencing token of the writer; a store that has recorded a higher one refuses
 * @param revision what {@link StoredRecord#revision()} must be for the write to be admitted: {@link #ABSENT} where there
 *     must be no record, {@link #ANY} where the token alone decides
 * @param value the value, as {@link StoredRecord#value()}
 * @param keep after this long, by the store's clock, the record counts as absent and may be removed; zero: it is absent as
 *     soon as the write is answered
 */
public record RecordWrite(String name, long token, long revision, String value, Duration keep) {
    /** There must be no record. */
    public static final long ABSENT = 0;

    /** The token alone decides. */
    public static final long ANY = -1;

    /** How long to keep it in milliseconds, for stores that count those: 1 at least, and 0 only for a removal. */
    public long keepMillis() {
        return keep.isZero() ? 0 : Math.max(1, keep.toMillis());
    }
}
