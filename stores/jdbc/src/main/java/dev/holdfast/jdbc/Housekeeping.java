package dev.holdfast.jdbc;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/**
 * Removes rows that nobody has used for long: half a minute after the store was opened and every ten minutes from then
 * on, in small batches between the requests of the client. What stays is one row of some 150 bytes per name for an hour.
 */
final class Housekeeping {
    static final Duration FIRST = Duration.ofSeconds(30);
    static final Duration EVERY = Duration.ofMinutes(10);

    private final Worker worker;
    private final TimeSource time;
    private volatile boolean closed;
    private volatile TimeSource.Scheduled next = () -> {};

    Housekeeping(Worker worker, TimeSource time) {
        this.worker = worker;
        this.time = time;
    }

    void start() {
        schedule(FIRST);
    }

    void close() {
        closed = true;
        next.cancel();
    }

    private void schedule(Duration delay) {
        next = time.schedule(() -> purge(""), delay);
        if (closed) {
            next.cancel();
        }
    }

    /** A failure is not told: the next round tries again, and callers hear of a broken store from their own requests. */
    private void purge(String after) {
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
