package dev.holdfast.redis;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims of which a copy may still be on its way, since the connection broke before they were answered. Most are forgotten
 * when they are released or withdrawn; one of which nothing more is heard, after the longest time in which that may be
 * expected. Thread-safe.
 */
final class SentTwice {
    /** Much longer than a copy is on its way; a lease may be longer still. */
    private static final Duration KEPT = Duration.ofMinutes(10);

    private final TimeSource time;
    private final Map<ClaimId, Long> until = new ConcurrentHashMap<>();

    SentTwice(TimeSource time) {
        this.time = time;
    }

    void add(ClaimId id, Duration lease) {
        long now = time.nanoTime();
        until.values().removeIf(end -> end - now <= 0);
        until.put(id, end(now, lease));
    }

    /** It is still waited for, or held: keeps it from being forgotten if it is here. */
    void heardOf(ClaimId id, Duration lease) {
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
