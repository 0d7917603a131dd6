package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** PostgreSQL's {@code pg_advisory_lock} over a pool; a timed try asks again each millisecond. */
final class AdvisoryLockPeer implements Peer {
    private final HikariDataSource pool;

    AdvisoryLockPeer(String url, int clients) {
        pool = Pools.open(url, clients);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new SessionLock(pool, new Advisory(name));
    }

    @Override
    public void close() {
        pool.close();
    }

    private record Advisory(String name) implements SessionLock.Statements {
        @Override
        public void acquire(Connection connection) throws SQLException {
            boolean unused = call(connection, "select true from pg_advisory_lock(hashtextextended(?, 0))");
        }

        @Override
        public boolean tryAcquire(Connection connection, Duration patience) throws SQLException, InterruptedException {
            return RetryLoop.<SQLException>within(
                    patience, () -> call(connection, "select pg_try_advisory_lock(hashtextextended(?, 0))"));
        }

        @Override
        public void release(Connection connection) throws SQLException {
            if (!call(connection, "select pg_advisory_unlock(hashtextextended(?, 0))")) {
                throw new IllegalStateException("the lock was not mine any more");
            }
        }

        private boolean call(Connection connection, String query) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(query)) {
                statement.setString(1, name);
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() && row.getBoolean(1);
                }
            }
        }
    }
}
