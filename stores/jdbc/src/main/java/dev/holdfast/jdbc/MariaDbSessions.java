package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.List;

/** {@code GET_LOCK} of MariaDB and MySQL: locks of the whole server, so their names have the table's hash and the row's number. */
final class MariaDbSessions implements SessionDialect {
    private static final int YEAR_SECONDS = 31_536_000;

    @Override
    public String createTable(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name VARBINARY(1020) NOT NULL PRIMARY KEY,
                  layout SMALLINT NOT NULL,
                  number INT NOT NULL UNIQUE,
                  version BIGINT NOT NULL,
                  claim_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
                  grant_number BIGINT NOT NULL,
                  acquired_at BIGINT NOT NULL,
                  session BIGINT NOT NULL,
                  free_at BIGINT NOT NULL,
                  host VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
                  pid BIGINT NOT NULL,
                  thread VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
                  label VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL
                ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""";
    }

    /** Of the database's name too, in the letters that the server compares. The name of a lock has at most 64 characters. */
    @Override
    public String scope(String table) {
        int dot = table.indexOf('.');
        String database = dot < 0 ? "DATABASE()" : "'" + table.substring(0, dot) + "'";
        String name = "CONCAT(" + database + ", '." + table.substring(dot + 1) + "')";
        return "SELECT CONCAT('hf', LEFT(SHA2(IF(@@lower_case_table_names > 0, LOWER(" + name + "), " + name
                + "), 256), 32), '.')";
    }

    @Override
    public String tryLock(String scope, String number) {
        return "GET_LOCK(" + name(scope, number) + ", 0) = 1";
    }

    /** One statement, in the server's own queue: it reads no table, so it keeps no old rows and blocks no DDL. */
    @Override
    public boolean await(SessionWait wait, String scope, int number) throws SQLException {
        return wait.ask("SELECT GET_LOCK(" + name(scope, Integer.toString(number)) + ", " + YEAR_SECONDS + ")") == 1;
    }

    @Override
    public String unlock(String scope, String number) {
        return "RELEASE_LOCK(" + name(scope, number) + ")";
    }

    /** Some versions use texts for it rather than numbers. */
    @Override
    public String writable() {
        return "CAST(@@GLOBAL.read_only AS CHAR) IN ('0', 'OFF')";
    }

    @Override
    public String held(String scope, String number) {
        return "IS_USED_LOCK(" + name(scope, number) + ") IS NOT NULL";
    }

    @Override
    public String unlockAll() {
        return "RELEASE_ALL_LOCKS()";
    }

    /** A session that waits shows its statement, in which the number is written out. */
    @Override
    public String waiting(String scope, String number) {
        return "(SELECT count(*) FROM information_schema.processlist p WHERE p.state = 'User lock' AND p.info LIKE CONCAT('%"
                + scope + "'', ', " + number + ", '), %'))";
    }

    private static String name(String scope, String number) {
        return "CONCAT('" + scope + "', " + number + ")";
    }

    /** The server's own limit to statements would end waits. */
    @Override
    public void prepare(SqlSession session, long idleSeconds, long blockedMillis) throws SQLException {
        String limit = MariaDbDialect.isMariaDb(session) ? "max_statement_time" : "max_execution_time";
        session.execute("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', SESSION wait_timeout = "
                + idleSeconds + ", SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1, SESSION "
                + limit + " = 0");
    }

    @Override
    public List<String> cancelled() {
        return List.of("1317", "1969", "3024");
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "Waiters are counted from the process list, in which an account sees only its own sessions: use one account"
                        + " for all clients of a table.",
                "A server that loses committed transactions (asynchronous failover, innodb_flush_log_at_trx_commit other"
                        + " than 1) may forget a grant; the next client then does not wait for the previous one.",
                "GET_LOCK knows one server: several primaries that replicate to each other do not exclude each other.");
    }
}
