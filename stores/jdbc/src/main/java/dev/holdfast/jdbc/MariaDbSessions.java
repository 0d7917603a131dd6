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

    /** Of the database's name too. The name of a lock has at most 64 characters. */
    @Override
    public String scope(String table) {
        int dot = table.indexOf('.');
        String database = dot < 0 ? "DATABASE()" : "'" + table.substring(0, dot) + "'";
        return "SELECT CONCAT('hf', LEFT(SHA2(CONCAT(" + database + ", '." + table.substring(dot + 1)
                + "'), 256), 32), '.')";
    }

    @Override
    public String lock(String scope, String number, boolean waits) {
        return "GET_LOCK(" + name(scope, number) + ", " + (waits ? YEAR_SECONDS : 0) + ") = 1";
    }

    @Override
    public String unlock(String scope, String number) {
        return "RELEASE_LOCK(" + name(scope, number) + ")";
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

    @Override
    public void prepare(SqlSession session, long idleSeconds) throws SQLException {
        session.execute("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', SESSION wait_timeout = "
                + idleSeconds + ", SESSION innodb_lock_wait_timeout = 3");
    }

    @Override
    public List<String> cancelled() {
        return List.of("1317", "1969", "3024");
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "Who waits is read from the list of processes, where an account sees only its own: let all clients of a"
                        + " table have one account.",
                "GET_LOCK knows one server: several primaries that replicate to each other do not exclude each other.");
    }
}
