package dev.holdfast.bench.peer;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * One prepared UPDATE of an existing row to acquire it, one to release it, each its own transaction, over a connection
 * for each thread that is at it: what the database itself costs.
 */
final class RawSqlPeer implements Peer {
    private final String url;
    private final Dialect dialect;
    private final ConcurrentLinkedDeque<Session> idle = new ConcurrentLinkedDeque<>();
    private final Set<String> known = ConcurrentHashMap.newKeySet();

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
        if (!known.contains(name)) {
            Session session = session();
            session.insert(name);
            idle.push(session);
            known.add(name);
        }
        return new OneLock(name);
    }

    @Override
    public void close() throws SQLException {
        for (Session session = idle.poll(); session != null; session = idle.poll()) {
            session.connection.close();
        }
    }

    private Session session() throws SQLException {
        Session session = idle.poll();
        return session != null ? session : new Session(connect(), dialect);
    }

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

    /** A connection and its statements, with an owner of its own. */
    private static final class Session {
        private final Connection connection;
        private final Dialect dialect;
        private final PreparedStatement take;
        private final PreparedStatement give;

        Session(Connection connection, Dialect dialect) throws SQLException {
            this.connection = connection;
            this.dialect = dialect;
            String owner = UUID.randomUUID().toString();
            take = connection.prepareStatement(dialect.take);
            take.setString(1, owner);
            give = connection.prepareStatement(dialect.give);
            give.setString(2, owner);
        }

        void insert(String name) throws SQLException {
            try (PreparedStatement insert = connection.prepareStatement(dialect.insert)) {
                insert.setString(1, name);
                insert.executeUpdate();
            }
        }

        boolean take(String name) throws SQLException {
            take.setString(2, name);
            return take.executeUpdate() == 1;
        }

        boolean give(String name) throws SQLException {
            give.setString(1, name);
            return give.executeUpdate() == 1;
        }
    }

    private final class OneLock implements PeerLock {
        private final String name;
        private @Nullable Session holder;

        OneLock(String name) {
            this.name = name;
        }

        @Override
        public void acquire() throws SQLException, InterruptedException {
            Session session = session();
            RetryLoop.<SQLException>until(() -> session.take(name));
            holder = session;
        }

        @Override
        public boolean tryAcquire(Duration patience) throws SQLException, InterruptedException {
            Session session = session();
            if (RetryLoop.<SQLException>within(patience, () -> session.take(name))) {
                holder = session;
                return true;
            }
            idle.push(session);
            return false;
        }

        @Override
        public void release() throws SQLException {
            Session session = holder;
            if (session == null || !session.give(name)) {
                throw new IllegalStateException("the lock was not mine any more");
            }
            holder = null;
            idle.push(session);
        }
    }
}
