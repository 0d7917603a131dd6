package dev.holdfast.redis;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims that may have been sent twice, because the connection broke before they were answered. A claim is forgotten
 * when it is released or withdrawn, or ten minutes after its lease if nothing more is received about it. Thread-safe.
 */
final class ResentClaims {
    /** Much longer than a copy is under way; a lease may be longer still. */
    private static final Duration KEPT = Duration.ofMinutes(10);

    private static final Duration SWEPT_EVERY = Duration.ofMinutes(1);

    private final TimeSource time;
    private volatile long swept;
    private final Map<ClaimId, Long> until = new ConcurrentHashMap<>();

    ResentClaims(TimeSource time) {
        this.time = time;
        this.swept = time.nanoTime();
    }

    void add(ClaimId id, Duration lease) {
        long now = time.nanoTime();
        if (now - swept >= SWEPT_EVERY.toNanos()) {
            swept = now; // not each time: in an outage all waiters call this at once
            until.values().removeIf(end -> end - now <= 0);
        }
        until.put(id, end(now, lease));
    }

    /** The claim still waits or holds: remembers it for longer if it is known here. */
    void keep(ClaimId id, Duration lease) {
        if (!until.isEmpty()) {
            until.computeIfPresent(id, (known, end) -> end(time.nanoTime(), lease));
        }
    }

    /** Forgets it; whether it was here. */
    boolean remove(ClaimId id) {
        return !until.isEmpty() && until.remove(id) != null;
    }

    int size() {
        return until.size();
    }

    private static long end(long now, Duration lease) {
        return now + lease.plus(KEPT).toNanos();
    }
}
