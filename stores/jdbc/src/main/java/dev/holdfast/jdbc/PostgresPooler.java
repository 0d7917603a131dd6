package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;

/**
 * Finds a pooler that gives each transaction another session. What is set there stays on the sessions of others, LISTEN
 * is not received, and a prepared statement is not found again.
 *
 * <p>A pooler shows itself by the key that it makes up for its clients: it names another process than the one that
 * answers. In session mode that is fine. In transaction mode a transaction of another connection is given the session
 * that this one has just used, or this one is given another session meanwhile.
 */
final class PostgresPooler {
    private static final int TRIES = 3;

    private PostgresPooler() {}

    /**
     * Refuses a connection through such a pooler, and leaves nothing on the sessions that it has led to.
     *
     * @param connection in autocommit
     * @param more where another connection can be had; while it cannot, nothing is refused
     */
    static void refuse(Connection connection, Connections more) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            return;
        }
        unprepared(connection, () -> {
            int pid = pid(connection);
            boolean pooled = connection.unwrap(PGConnection.class).getBackendPID() != pid;
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TableOpener.ANSWER_MILLIS);
            for (int tries = 0; pooled && tries < TRIES && until - System.nanoTime() > 0; tries++) {
                if (sharesSessions(connection, pid, more)) {
                    throw new StoreRefusedException(
                            "cannot keep locks through a pooler that gives each transaction another session of"
                                    + " PostgreSQL: connect to the server directly, or through a pooler in session mode");
                }
            }
            return pooled;
        });
    }

    /** In session mode the second connection may have to wait for a session: then this one has its own. */
    private static boolean sharesSessions(Connection connection, int pid, Connections more) throws SQLException {
        try (Connection other = more.open()) {
            LentConnection loan = new LentConnection(other);
            loan.begin();
            boolean shares = unprepared(other, () -> pid(other) == pid || isGivenAnother(connection, pid, other));
            loan.end();
            return shares;
        } catch (SQLException e) {
            if (connection.isClosed()) {
                throw e;
            }
            return false;
        }
    }

    /** While the other is in a transaction, which keeps the session it was given. */
    private static boolean isGivenAnother(Connection connection, int pid, Connection other) throws SQLException {
        other.setAutoCommit(false);
        try {
            return pid(other) == pid || pid(connection) != pid;
        } finally {
            other.rollback();
            other.setAutoCommit(true);
        }
    }

    private interface Probe {
        boolean run() throws SQLException;
    }

    /** A statement that the driver prepares under a name would stay on the session of somebody else. */
    private static boolean unprepared(Connection connection, Probe probe) throws SQLException {
        PGConnection postgres = connection.unwrap(PGConnection.class);
        int threshold = postgres.getPrepareThreshold();
        postgres.setPrepareThreshold(0);
        try {
            return probe.run();
        } finally {
            postgres.setPrepareThreshold(threshold);
        }
    }

    private static int pid(Connection connection) throws SQLException {
        return SqlSession.only(connection, "SELECT pg_backend_pid()", row -> row.getInt(1));
    }
}
