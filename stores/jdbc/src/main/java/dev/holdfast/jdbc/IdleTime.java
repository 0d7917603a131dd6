package dev.holdfast.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long the connections of a store may be idle before the server, or a balancer on the way, ends them; as far as that
 * was seen. One that was idle for longer than any before is asked first whether it still answers. Once some were ended,
 * all are kept alive, at a third of the shortest time. In nanoseconds. Thread-safe.
 */
final class IdleTime {
    /** What ends sooner was ended by something else. */
    private static final long LEAST = TimeUnit.SECONDS.toNanos(1);

    private static final long ALIVE_PARTS = 3;

    private final AtomicLong survived = new AtomicLong(LEAST);
    private final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);

    boolean isRisky(long idle) {
        return idle > survived.get();
    }

    void survived(long idle) {
        survived.accumulateAndGet(idle, Math::max);
    }

    void ended(long idle) {
        if (idle >= LEAST) {
            survived.set(LEAST);
            shortest.accumulateAndGet(idle, Math::min);
        }
    }

    /** How long a connection may be idle until it is kept alive. */
    long most() {
        return shortest.get() / ALIVE_PARTS;
    }
}
