package dev.holdfast.jdbc;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.PlannedTask;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Cancels, on the server, a statement of one connection that takes too long. Servers' own limits do not cover a commit
 * that waits for a synchronous standby. A client that only closes its connection leaves the server's process waiting.
 *
 * <p>Costs nothing while no statement is under way, and otherwise one timer event per limit. Statements come from
 * one thread.
 */
final class StatementLimit {
    private static final Duration AGAIN = Duration.ofMillis(500);

    private final TimeSource time;
    private final Duration limit;
    private final ServerDialect dialect;
    private final PlannedTask check;
    private volatile @Nullable Running running;

    /** One statement under way. */
    private static final class Running {
        private final Statement statement;
        private final long since;
        private volatile boolean calledOff;

        Running(Statement statement, long since) {
            this.statement = statement;
            this.since = since;
        }
    }

    /** Sends a statement, and receives its answer. */
    @FunctionalInterface
    interface Call<T> {
        T run() throws SQLException;
    }

    StatementLimit(TimeSource time, Duration limit, ServerDialect dialect) {
        this.time = time;
        this.limit = limit;
        this.dialect = dialect;
        this.check = new PlannedTask(time, this::check);
    }

    /**
     * Runs a statement.
     *
     * @throws SQLTimeoutException also if the server then reports success: after a cancelled commit, whether this client or
     * another session cancelled it, the standby may lack the change
     */
    <T> T run(Statement statement, Call<T> call) throws SQLException {
        Running mine = new Running(statement, time.nanoTime());
        running = mine;
        if (!check.isPlanned()) {
            watch(limit);
        }
        try {
            T answer = call.run();
            if (mine.calledOff || dialect.mayBeUnreplicated(statement)) {
                throw new SQLTimeoutException(
                        "the statement was cancelled, at the latest after " + limit.toMillis() + " ms", "HYT00");
            }
            return answer;
        } finally {
            running = null;
        }
    }

    private void watch(Duration after) {
        try {
            check.within(after);
        } catch (RuntimeException | Error noTimer) {
            // The driver's own limit is left, as when the client closes.
        }
    }

    private void check() {
        Running now = running;
        if (now == null) {
            return; // the next statement plans a check again
        }
        Duration left = limit.minusNanos(time.nanoTime() - now.since);
        boolean tooLong = left.isNegative() || left.isZero();
        watch(tooLong ? AGAIN : left);
        if (tooLong) {
            now.calledOff = true;
            DaemonThreads.daemon("holdfast-cancel", () -> cancel(now)).start();
        }
    }

    private void cancel(Running late) {
        try {
            if (running == late) {
                late.statement.cancel();
            }
        } catch (SQLException | RuntimeException e) {
            SqlSession.log(System.Logger.Level.DEBUG, "cancelling a statement failed", e);
        }
    }
}
