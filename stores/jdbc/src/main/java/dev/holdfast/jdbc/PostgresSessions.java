package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Advisory locks of PostgreSQL, with two keys: the table's identity and the row's number. */
final class PostgresSessions implements SessionDialect {
    private static final int IDLE_SESSIONS_END = 140_000;
    private static final int TRANSACTIONS_END = 170_000;

    @Override
    public String createTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name text COLLATE "C" NOT NULL PRIMARY KEY,
                  layout smallint NOT NULL,
                  number integer NOT NULL UNIQUE,
                  version bigint NOT NULL,
                  claim_id varchar(32),
                  grant_number bigint NOT NULL,
                  acquired_at bigint NOT NULL,
                  session bigint NOT NULL,
                  free_at bigint NOT NULL,
                  host varchar(255) NOT NULL,
                  pid bigint NOT NULL,
                  thread varchar(255) NOT NULL,
                  label varchar(255) NOT NULL
                ) WITH (fillfactor = 50)""";
    }

    @Override
    public String scope(String table) {
        return "SELECT '" + table + "'::regclass::oid::int4";
    }

    /** The function that waits returns nothing, which is not NULL. */
    @Override
    public String lock(String scope, String number, boolean waits) {
        String keys = keys(scope, number);
        return waits ? "pg_advisory_lock" + keys + "::text IS NOT NULL" : "pg_try_advisory_lock" + keys;
    }

    @Override
    public String unlock(String scope, String number) {
        return "pg_advisory_unlock" + keys(scope, number);
    }

    private static String keys(String scope, String number) {
        return "((" + scope + ")::int4, (" + number + ")::int4)";
    }

    @Override
    public String writable() {
        return "current_setting('transaction_read_only') = 'off'";
    }

    @Override
    public String onPrimary(String query) {
        return PostgresDialect.PRIMARY + query;
    }

    @Override
    public String held(String scope, String number) {
        return among("l.granted", scope, number);
    }

    @Override
    public String waiting(String scope, String number) {
        String key = "(" + number + ")::int4::oid";
        return "CASE WHEN " + among("NOT l.granted", scope, number)
                + " THEN (SELECT count(*) FROM pg_locks l WHERE NOT l.granted AND " + ours(scope) + " AND l.objid = "
                + key
                + ") ELSE 0 END";
    }

    /** The view of all locks is read once for all rows of a statement. */
    private static String among(String which, String scope, String number) {
        return "(" + number + ")::int4::oid IN (SELECT l.objid FROM pg_locks l WHERE " + which + " AND " + ours(scope)
                + ")";
    }

    private static String ours(String scope) {
        return "l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = (" + scope + ")::int4::oid AND l.database ="
                + " (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())";
    }

    @Override
    public String unlockAll() {
        return "pg_advisory_unlock_all()";
    }

    /**
     * Before version 14 only the connection's own probes end the session of a client that is gone, and not while it waits.
     * A grant is on disk before it is used: the next client waits only for one that is in the row.
     */
    @Override
    public void prepare(SqlSession session, long idleSeconds) throws SQLException {
        long version = session.only(
                "SELECT current_setting('server_version_num')::int, CASE current_setting('synchronous_commit')"
                        + " WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END",
                row -> row.getLong(1));
        StringBuilder settings = new StringBuilder("SET tcp_keepalives_idle = " + idleSeconds
                + "; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; SET statement_timeout = 0;"
                + " SET lock_timeout = 0");
        if (version >= IDLE_SESSIONS_END) {
            settings.append("; SET idle_session_timeout = '" + idleSeconds + "s'");
        }
        if (version >= TRANSACTIONS_END) {
            settings.append("; SET transaction_timeout = 0");
        }
        session.execute(settings.toString());
        if (version >= IDLE_SESSIONS_END) {
            leaveQueueWithClient(session);
        }
    }

    /** A session that waits for a lock does not notice otherwise that its client is gone. */
    private static void leaveQueueWithClient(SqlSession session) throws SQLException {
        try {
            session.execute("SET client_connection_check_interval = '1s'");
        } catch (SQLException e) {
            if (!SqlErrors.has(e, Set.of("22023"))) { // a server on a platform that does not know it
                throw e;
            }
        }
    }

    @Override
    public List<String> cancelled() {
        return List.of("57014");
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "A server that loses committed transactions (asynchronous failover, fsync=off) may forget a grant;"
                        + " the next client then does not wait for the previous one.",
                "Before PostgreSQL 14, a client that the network has cut off keeps its locks until the server's probes"
                        + " of the connection have failed, and one that died while it waited stays in the queue until it"
                        + " is granted the lock.");
    }
}
