package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.List;

/** Advisory locks of PostgreSQL, with two keys: the table's identity and the row's number. */
final class PostgresSessions implements SessionDialect {
    private static final int IDLE_SESSIONS_END = 140_000;
    private static final int TRANSACTIONS_END = 170_000;
    private static final int LONGEST_SILENCE_MILLIS = 4 * TableOpener.ANSWER_MILLIS;

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

    /** False while others wait; see {@link PostgresQueue}. */
    @Override
    public String tryLock(String scope, String number) {
        String gate = "(" + PostgresQueue.of(scope, number) + ", " + PostgresQueue.GATE + ")";
        return "CASE WHEN pg_try_advisory_lock" + gate + " THEN CASE WHEN pg_advisory_unlock" + gate
                + " THEN pg_try_advisory_lock" + keys(scope, number) + " ELSE false END ELSE false END";
    }

    /** No statement waits for long: without an answer until the server ends the session, the connection is dead. */
    @Override
    public boolean await(SessionWait wait, String scope, int number) throws SQLException {
        TableOpener.limitAnswers(wait.statement().getConnection(), LONGEST_SILENCE_MILLIS);
        return new PostgresQueue(wait, scope, number).await();
    }

    @Override
    public String unforced(String update) {
        return PostgresDialect.unforced("", update);
    }

    /** A tenth of what all sessions of the server can have together. */
    @Override
    public int mostLocks(SqlSession session) throws SQLException {
        return session.only(
                "SELECT current_setting('max_locks_per_transaction')::bigint * current_setting('max_connections')::bigint",
                row -> (int) Math.min(Integer.MAX_VALUE, Math.max(1, row.getLong(1) / 10)));
    }

    @Override
    public String unlock(String scope, String number) {
        return "pg_advisory_unlock" + keys(scope, number);
    }

    static String keys(String scope, String number) {
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

    /** The view of all locks is read once for all rows of a statement, here and in {@link #waiting}. */
    @Override
    public String held(String scope, String number) {
        return "(" + number + ")::int4::oid IN (SELECT l.objid FROM " + PostgresQueue.HELD + " AND l.classid = ("
                + scope + ")::int4::oid)";
    }

    @Override
    public String waiting(String scope, String number) {
        String queue = PostgresQueue.of(scope, number) + "::oid";
        return "CASE WHEN " + queue + " IN (SELECT l.classid FROM " + PostgresQueue.HELD
                + ") THEN (SELECT count(*) FROM " + PostgresQueue.HELD + " AND l.classid = " + queue
                + " AND l.objid <> " + PostgresQueue.GATE + ") ELSE 0 END";
    }

    @Override
    public String unlockAll() {
        return "pg_advisory_unlock_all()";
    }

    /**
     * Before version 14 only the connection's own probes end the session of a client that the network has cut off. A grant
     * is on disk before it is used: the next client waits only for one that is in the row.
     */
    @Override
    public void prepare(SqlSession session, long idleSeconds, long blockedMillis) throws SQLException {
        long version = session.only(
                "SELECT current_setting('server_version_num')::int, CASE current_setting('synchronous_commit')"
                        + " WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END",
                row -> row.getLong(1));
        StringBuilder settings = new StringBuilder("SET tcp_keepalives_idle = " + idleSeconds
                + "; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; SET statement_timeout = 0;"
                + " SET " + PostgresDialect.WITH_WARNINGS + ";"
                + " SET lock_timeout = " + blockedMillis);
        if (version >= IDLE_SESSIONS_END) {
            settings.append("; SET idle_session_timeout = '" + idleSeconds + "s'");
        }
        if (version >= TRANSACTIONS_END) {
            settings.append("; SET transaction_timeout = 0");
        }
        session.execute(settings.toString());
        PostgresDialect.limitTexts(session);
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
                "Before PostgreSQL 14, a client that the network has cut off keeps its locks, and its place in a queue,"
                        + " until the server's probes of the connection have failed.");
    }
}
