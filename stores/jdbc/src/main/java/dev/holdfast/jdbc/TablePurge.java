package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;

/**
 * Removes rows that nobody has used for an hour. Of all clients of a table one does it, every ten minutes: the client that
 * moves the time in the table's own row. It goes through the table by its primary key in small batches, between the
 * requests of a worker, and removes row by row those that are still as they were read.
 *
 * <p>A client that lives too briefly for that, a command, does its part as it ends: when a round is due, for a fifth of a
 * second at most. What it leaves, the next client goes on with. A client that wants no lock and only reads removes nothing.
 */
final class TablePurge {
    static final Duration EVERY = Duration.ofMinutes(10);
    static final Duration IDLE = Duration.ofHours(1);
    private static final Duration FIRST = Duration.ofSeconds(30);
    private static final long LAST_NANOS = Duration.ofMillis(200).toNanos();

    private final ConnectionWorker worker;
    private final boolean due;
    private final BooleanSupplier used;
    private volatile boolean begun;

    /**
     * For one worker.
     *
     * @param due whether nobody has done it for so long that it is done at the end of even a short life
     * @param used whether this client has wanted a lock: one that only reads removes nothing
     */
    TablePurge(ConnectionWorker worker, boolean due, BooleanSupplier used) {
        this.worker = worker;
        this.due = due;
        this.used = used;
    }

    /** Plans the first round. A worker that is never used has no thread, and does not remove anything either. */
    void start() {
        worker.plan(jittered(FIRST), this::begin);
    }

    void begin() {
        worker.plan(jittered(EVERY), this::begin);
        if (used.getAsBoolean()) {
            begun = true;
            worker.ask("purge", "", table -> table.idle().begin(EVERY.dividedBy(2)) ? purge(table) : "");
        }
    }

    private String purge(LockRows table) throws SQLException {
        return purge(table, table.idle().leftOff());
    }

    private String purge(LockRows table, String after) throws SQLException {
        String end = table.idle().remove(after, IDLE);
        if (end.isEmpty()) {
            table.idle().end();
        } else {
            worker.ask("purge", "", next -> purge(next, end)); // behind what was asked meanwhile
        }
        return end;
    }

    /** The last task of the worker. */
    void end(LockRows table) throws SQLException {
        IdleRows idle = table.idle();
        if (!due || begun || !used.getAsBoolean() || !idle.begin(EVERY.dividedBy(2))) {
            return;
        }
        long until = System.nanoTime() + LAST_NANOS;
        String after = idle.remove(idle.leftOff(), IDLE);
        while (!after.isEmpty() && until - System.nanoTime() > 0) {
            after = idle.remove(after, IDLE);
        }
        if (after.isEmpty()) {
            idle.end();
        } else {
            idle.leaveUnfinished(after);
        }
    }

    private static long jittered(Duration about) {
        long nanos = about.toNanos();
        return ThreadLocalRandom.current().nextLong(nanos * 3 / 4, nanos * 5 / 4);
    }
}
