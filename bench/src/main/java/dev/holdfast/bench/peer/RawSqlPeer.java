package dev.holdfast.bench.peer;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * One UPDATE of an existing row to take it, one to give it back, each its own transaction, over a connection for each
 * thread: what the database itself costs.
 */
final class RawSqlPeer implements Peer {
    private final String url;
    private final Dialect dialect;

    RawSqlPeer(String url) throws SQLException {
        this.dialect = Dialect.of(url);
        this.url = dialect == Dialect.SQLITE ? url.replaceFirst("^sqlite:", "jdbc:sqlite:") + "-raw" : url;
        try (Connection connection = connect()) {
            Tables.create(
                    connection,
                    "create table if not exists raw_lock (name varchar(255) not null primary key, owner varchar(36),"
                            + " expires_at " + dialect.type + " not null)");
        }
    }

    @Override
    public PeerLock open(String name, Mode mode) throws SQLException {
        Only.exclusive(mode, this);
        return new OneLock(connect(), dialect, name);
    }

    @Override
    public void close() {}

    private Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        if (dialect == Dialect.SQLITE) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("pragma busy_timeout=60000");
                statement.execute("pragma journal_mode=wal");
                statement.execute("pragma synchronous=normal");
            }
        }
        return connection;
    }

    /** Each database's own time, and thirty seconds later. */
    private enum Dialect {
        SQLITE("integer", "unixepoch()", "unixepoch()+30", "or ignore", ""),
        MARIADB("datetime(6)", "utc_timestamp(6)", "utc_timestamp(6) + interval 30 second", "ignore", ""),
        POSTGRESQL(
                "timestamptz",
                "clock_timestamp()",
                "clock_timestamp() + interval '30 seconds'",
                "",
                "on conflict do nothing");

        final String type;
        final String insert;
        final String take;
        final String give;

        Dialect(String type, String now, String later, String ignore, String onConflict) {
            this.type = type;
            this.insert =
                    "insert " + ignore + " into raw_lock (name, expires_at) values (?, " + now + ") " + onConflict;
            this.take = "update raw_lock set owner = ?, expires_at = " + later
                    + " where name = ? and (owner is null or expires_at <= " + now + ")";
            this.give = "update raw_lock set owner = null where name = ? and owner = ?";
        }

        static Dialect of(String url) {
            if (url.startsWith("sqlite:")) {
                return SQLITE;
            }
            return url.startsWith("jdbc:postgresql:") ? POSTGRESQL : MARIADB;
        }
    }

    private static final class OneLock implements PeerLock {
        private final Connection connection;
        private final PreparedStatement take;
        private final PreparedStatement give;

        OneLock(Connection connection, Dialect dialect, String name) throws SQLException {
            this.connection = connection;
            try (PreparedStatement insert = connection.prepareStatement(dialect.insert)) {
                insert.setString(1, name);
                insert.executeUpdate();
            }
            String owner = UUID.randomUUID().toString();
            take = connection.prepareStatement(dialect.take);
            take.setString(1, owner);
            take.setString(2, name);
            give = connection.prepareStatement(dialect.give);
            give.setString(1, name);
            give.setString(2, owner);
        }

        @Override
        public void acquire() throws SQLException, InterruptedException {
            RetryLoop.<SQLException>until(() -> take.executeUpdate() == 1);
        }

        @Override
        public void release() throws SQLException {
            if (give.executeUpdate() != 1) {
                throw new IllegalStateException("the lock was not mine any more");
            }
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }
}
