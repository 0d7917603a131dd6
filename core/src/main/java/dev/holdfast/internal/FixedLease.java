package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The fixed lease of a holder where the store knows only the session's, which lives on: this client ends it, by its own
 * clock. There is none where the session's own lease is all there is. Thread-safe.
 */
final class FixedLease {
    private record Term(Duration lease, long end) {}

    private final TimeSource time;
    private volatile @Nullable Term term;

    FixedLease(TimeSource time) {
        this.time = time;
    }

    /** Counts from now. */
    void begin(Duration lease) {
        term = new Term(lease, time.nanoTime() + Durations.nanos(lease));
    }

    /** The holder has none. */
    void none() {
        term = null;
    }

    /** Whether the holder has one. */
    boolean isSet() {
        return term != null;
    }

    /** Another lease, which counts from now; if there is one at all. */
    void change(Duration lease) {
        if (term != null) {
            begin(lease);
        }
    }

    /** When it ends, by {@code nanoTime}, or the deadline of the grant if that comes first. */
    long endBefore(long deadline) {
        Term now = term;
        return now != null && now.end - deadline < 0 ? now.end : deadline;
    }

    /** Whether a holder with this lease can go on with it. */
    boolean fits(Duration lease) {
        Term now = term;
        return now == null || now.lease.equals(lease);
    }

    /** How long it was begun for; the lease of its grant where there is none. */
    Duration leaseWithin(Duration ofGrant) {
        Term now = term;
        return now == null ? ofGrant : now.lease;
    }
}
