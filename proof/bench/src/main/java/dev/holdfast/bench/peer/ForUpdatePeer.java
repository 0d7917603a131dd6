package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A row locked by a blocking {@code SELECT ... FOR UPDATE} in a transaction that lasts as long as the hold. A try passes
 * over a row that is locked ({@code SKIP LOCKED}); a timed one asks again each millisecond.
 */
final class ForUpdatePeer implements Peer {
    private static final String LOCK = "select name from row_lock where name = ? for update";

    private final HikariDataSource pool;
    private final String insert;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    ForUpdatePeer(String url, int clients) {
        pool = Pools.open(url, clients);
        Tables.create(pool, "create table if not exists row_lock (name varchar(255) not null primary key)");
        insert = url.startsWith("jdbc:postgresql:")
                ? "insert into row_lock (name) values (?) on conflict do nothing"
                : "insert ignore into row_lock (name) values (?)";
    }

    @Override
    public PeerLock open(String name, Mode mode) throws SQLException {
        Only.exclusive(mode, this);
        if (!known.contains(name)) {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement = connection.prepareStatement(insert)) {
                statement.setString(1, name);
                statement.executeUpdate();
            }
            known.add(name);
        }
        return new SessionLock(pool, new Row(name));
    }

    @Override
    public void close() {
        pool.close();
    }

    private record Row(String name) implements SessionLock.Statements {
        @Override
        public void acquire(Connection connection) throws SQLException {
            connection.setAutoCommit(false);
            if (!find(connection, LOCK)) {
                throw new IllegalStateException("the row is gone");
            }
        }

        @Override
        public boolean tryAcquire(Connection connection, Duration patience) throws SQLException, InterruptedException {
            connection.setAutoCommit(false);
            return RetryLoop.<SQLException>within(patience, () -> find(connection, LOCK + " skip locked"));
        }

        @Override
        public void release(Connection connection) throws SQLException {
            connection.commit();
        }

        private boolean find(Connection connection, String query) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(query)) {
                statement.setString(1, name);
                try (ResultSet row = statement.executeQuery()) {
                    return row.next();
                }
            }
        }
    }
}
