package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Removes rows that nobody has used for an hour. Of all clients of a table one does it, every ten minutes: whoever moves
 * the time in the table's own row. It goes through the table by its primary key in small batches, between the requests of
 * the lane, and removes row by row those that are still as they were read.
 */
final class TablePurge {
    static final Duration EVERY = Duration.ofMinutes(10);
    static final Duration IDLE = Duration.ofHours(1);
    private static final Duration FIRST = Duration.ofSeconds(30);
    private static final int BATCH = 200;

    private final Lane lane;

    TablePurge(Lane lane) {
        this.lane = lane;
    }

    /** Plans the first round. A store that is never used has no thread, and does not remove anything either. */
    void start() {
        lane.plan(jittered(FIRST), this::begin);
    }

    private void begin() {
        lane.plan(jittered(EVERY), this::begin);
        lane.ask("purge", "", table -> table.idle().begin(EVERY.dividedBy(2)) ? purge(table, "") : "");
    }

    private String purge(RowTable table, String after) throws SQLException {
        String end = table.idle().remove(after, IDLE, BATCH);
        if (!end.isEmpty()) {
            lane.ask("purge", "", next -> purge(next, end));
        }
        return end;
    }

    private static long jittered(Duration about) {
        long nanos = about.toNanos();
        return ThreadLocalRandom.current().nextLong(nanos * 3 / 4, nanos * 5 / 4);
    }
}
