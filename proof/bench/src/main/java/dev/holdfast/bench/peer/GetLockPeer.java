package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** MariaDB's {@code GET_LOCK} over a pool. */
final class GetLockPeer implements Peer {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final HikariDataSource pool;

    GetLockPeer(String url, int clients) {
        pool = Pools.open(url, clients);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new SessionLock(pool, new GetLock(name));
    }

    @Override
    public void close() {
        pool.close();
    }

    private record GetLock(String name) implements SessionLock.Statements {
        @Override
        public void acquire(Connection connection) throws SQLException {
            while (!tryAcquire(connection, LONG)) {
                // the server's longest wait is over; the caller still wants the lock
            }
        }

        @Override
        public boolean tryAcquire(Connection connection, Duration patience) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement("select get_lock(?, ?)")) {
                statement.setString(1, name);
                statement.setBigDecimal(2, BigDecimal.valueOf(patience.toMillis(), 3));
                return isOne(statement);
            }
        }

        @Override
        public void release(Connection connection) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement("select release_lock(?)")) {
                statement.setString(1, name);
                if (!isOne(statement)) {
                    throw new IllegalStateException("the lock was not mine any more");
                }
            }
        }

        private static boolean isOne(PreparedStatement statement) throws SQLException {
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getInt(1) == 1;
            }
        }
    }
}
