package dev.holdfast.sqlite;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Micros;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Removes rows unused for long: half a minute after the store was opened and every ten minutes from then on, in small
 * batches between the requests of the client. One row of about 150 bytes per name stays for an hour.
 *
 * <p>A client that lives too briefly for that, such as a command, removes rows as it closes: if no client has done so for
 * ten minutes, and for a fifth of a second at most.
 */
final class Housekeeping {
    static final Duration FIRST = Duration.ofSeconds(30);
    static final Duration EVERY = Duration.ofMinutes(10);

    private static final long LAST_NANOS = Duration.ofMillis(200).toNanos();

    private final SqliteWorker worker;
    private final TimeSource time;
    private final LongSupplier storeNanos;
    private volatile boolean used;
    private volatile boolean begun;
    private volatile boolean closed;
    private volatile TimeSource.Scheduled next = () -> {};

    /**
     * For one store.
     *
     * @param storeNanos the store's clock
     */
    Housekeeping(SqliteWorker worker, TimeSource time, LongSupplier storeNanos) {
        this.worker = worker;
        this.time = time;
        this.storeNanos = storeNanos;
    }

    void start() {
        schedule(FIRST);
    }

    /** A lock was claimed: a client that only reads removes nothing. */
    void used() {
        used = true;
    }

    void close() {
        closed = true;
        next.cancel();
    }

    /** The worker's last task. */
    void end(SqliteLocks table) {
        if (begun || !used) {
            return;
        }
        long now = TimeUnit.NANOSECONDS.toMicros(storeNanos.getAsLong());
        if (now - table.purgedAtMicros() < Micros.of(EVERY)) {
            return;
        }
        long until = System.nanoTime() + LAST_NANOS;
        String after = table.purge("");
        while (!after.isEmpty() && until - System.nanoTime() > 0) {
            after = table.purge(after);
        }
    }

    private void schedule(Duration delay) {
        next = time.schedule(() -> purge(""), delay);
        if (closed) {
            next.cancel();
        }
    }

    /** A failure is not reported: the next round tries again, and callers learn of a broken store from their own requests. */
    private void purge(String after) {
        if (!used) {
            schedule(EVERY);
            return;
        }
        begun = true;
        worker.ask(table -> table.purge(after)).whenComplete((end, failure) -> {
            if (closed) {
                return;
            }
            if (failure != null || end.isEmpty()) {
                schedule(EVERY);
            } else {
                purge(end);
            }
        });
    }
}
