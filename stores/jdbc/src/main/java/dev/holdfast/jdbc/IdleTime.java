package dev.holdfast.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * How long the connections of a store may be idle before the server, or a balancer on the way, ends them; as far as that
 * was seen. One that was idle for longer than any before is asked first whether it still answers. Once some were ended,
 * all are kept alive, at a third of the shortest time. In nanoseconds. Thread-safe.
 *
 * <p>A restart of the server ends connections too, however short they were idle, but all of them at once. So an end
 * counts together with a second one only: of a connection that was last used after the first end was seen, while none has
 * survived for as long as either.
 */
final class IdleTime {
    /** What ends sooner was ended by something else. */
    private static final long LEAST = TimeUnit.SECONDS.toNanos(1);

    private static final long ALIVE_PARTS = 3;

    /** Since the last end. */
    private final AtomicLong survived = new AtomicLong(LEAST);

    private final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);
    private volatile @Nullable End first;

    private record End(long seen, long idle) {}

    boolean isRisky(long idle) {
        return idle > survived.get();
    }

    void survived(long idle) {
        if (isRisky(idle)) {
            survived.accumulateAndGet(idle, Math::max);
        }
    }

    /**
     * A connection ended while it was idle.
     *
     * @param since when it was used last, as {@link System#nanoTime()} counts
     */
    void ended(long since, long idle) {
        if (idle < LEAST) {
            return;
        }
        End before = first;
        if (before == null || survived.get() >= Math.min(idle, before.idle)) {
            first = new End(System.nanoTime(), idle);
        } else if (since - before.seen > 0) {
            shortest.accumulateAndGet(Math.min(idle, before.idle), Math::min);
        }
        survived.set(LEAST);
    }

    /** How long a connection may be idle until it is kept alive. */
    long most() {
        return shortest.get() / ALIVE_PARTS;
    }
}
