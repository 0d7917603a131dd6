package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.peer.Peer.PeerLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A lock that belongs to a connection: the pool lends one from acquire to release. */
final class SessionLock implements PeerLock {
    private final HikariDataSource pool;
    private final Statements statements;
    private @Nullable Connection held;

    SessionLock(HikariDataSource pool, Statements statements) {
        this.pool = pool;
        this.statements = statements;
    }

    /** The database's own words for one lock. */
    interface Statements {
        void acquire(Connection connection) throws SQLException, InterruptedException;

        boolean tryAcquire(Connection connection, Duration patience) throws SQLException, InterruptedException;

        void release(Connection connection) throws SQLException;
    }

    @Override
    public void acquire() throws SQLException, InterruptedException {
        Connection connection = pool.getConnection();
        try {
            statements.acquire(connection);
        } catch (SQLException | InterruptedException e) {
            connection.close();
            throw e;
        }
        held = connection;
    }

    @Override
    public boolean tryAcquire(Duration patience) throws SQLException, InterruptedException {
        Connection connection = pool.getConnection();
        boolean acquired = false;
        try {
            acquired = statements.tryAcquire(connection, patience);
        } finally {
            if (!acquired) {
                connection.close();
            }
        }
        held = acquired ? connection : null;
        return acquired;
    }

    @Override
    public void release() throws SQLException {
        try (Connection connection = held) {
            held = null;
            if (connection != null) {
                statements.release(connection);
            }
        }
    }
}
