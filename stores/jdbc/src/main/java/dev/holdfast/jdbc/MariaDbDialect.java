package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * MariaDB 10.6 or later and MySQL 8 or later, through the driver of either.
 *
 * <p>Rows are updated, never deleted and inserted again under contention, and each statement is a transaction of its own
 * that locks one row by its primary key: so nothing can wait in a circle. The number of a grant comes back as the key
 * that the statement generated, by {@code LAST_INSERT_ID(number)}.
 */
final class MariaDbDialect extends BytesDialect {
    private static final String SEVERAL_PRIMARIES =
            "SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON'"
                    + " OR Variable_name = 'group_replication_single_primary_mode' AND Value = 'OFF'";

    @Override
    public String title() {
        return "MariaDB";
    }

    @Override
    public List<String> names() {
        return List.of("mariadb", "mysql");
    }

    /** The moment at which the statement began, in no time zone. */
    @Override
    public String now() {
        return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
    }

    @Override
    public String givenBack(String expression) {
        return "LAST_INSERT_ID(" + expression + ")";
    }

    /**
     * Of one table, columns are assigned from left to right. It keeps the text short, which the binary log carries. A lease ends
     * by the time itself: a server that reads the value from before would otherwise grant leases that are over.
     */
    @Override
    public String assigned(String column, String expression) {
        return column;
    }

    @Override
    public String insertIfAbsent(String table, String columns, String values) {
        return "INSERT IGNORE INTO " + table + " (" + columns + ") VALUES (" + values + ")";
    }

    /** A proxy that splits reads from writes sends a query that locks to the primary. */
    @Override
    public String readToChange(String query) {
        return query + " FOR UPDATE";
    }

    @Override
    public List<String> createTable(String table) {
        return List.of("CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name VARBINARY(1020) NOT NULL PRIMARY KEY,
                  layout SMALLINT NOT NULL,
                  version BIGINT NOT NULL,
                  claim_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
                  grant_number BIGINT NOT NULL,
                  acquired_at BIGINT NOT NULL,
                  expires_at BIGINT NOT NULL,
                  waiting MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
                  sharing MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
                  host VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
                  pid BIGINT NOT NULL,
                  thread VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL,
                  label VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL
                ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""");
    }

    @Override
    public List<String> createRecords(String table) {
        return List.of("CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name VARBINARY(1020) NOT NULL PRIMARY KEY,
                  token BIGINT NOT NULL,
                  revision BIGINT NOT NULL,
                  written_at BIGINT NOT NULL,
                  keep_until BIGINT NOT NULL,
                  content TEXT CHARACTER SET utf8mb4 NOT NULL,
                  KEY keep_until (keep_until)
                ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC""");
    }

    /** The URL, or the pool, names the database: nothing is searched. */
    @Override
    public String schemas(Optional<String> schema, String table) {
        return "SELECT " + schema.map(name -> "'" + name + "'").orElse("DATABASE()");
    }

    @Override
    public Optional<SessionDialect> sessions() {
        return Optional.of(new MariaDbSessions());
    }

    @Override
    public String createRows(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " (name VARBINARY(1020) NOT NULL PRIMARY KEY)"
                + " ENGINE = InnoDB ROW_FORMAT = DYNAMIC";
    }

    @Override
    public String textOf(String time) {
        return "CAST(" + time + " AS CHAR)";
    }

    @Override
    public String laterThan(String column, long micros) {
        return "GREATEST(SYSDATE(6), " + column + " + INTERVAL " + micros + " MICROSECOND)";
    }

    @Override
    public String sessionId() {
        return "CONNECTION_ID()";
    }

    /** MySQL has no syntax for it in the query. The server counts whole seconds. */
    @Override
    public boolean lockWithin(Connection connection, long millis, RowLocking lock) throws SQLException {
        return within(connection, (millis + 999) / 1_000, lock);
    }

    /** An INSERT waits for the transaction that has locked the same row, even where it ignores it. */
    @Override
    public void withoutWaiting(Connection connection, Insertion insertion) throws SQLException {
        within(connection, 1, how -> {
            insertion.run();
            return true;
        });
    }

    /** A limit of the session that is shorter goes on to count. */
    private static boolean within(Connection connection, long seconds, RowLocking lock) throws SQLException {
        long before = SqlSession.only(connection, "SELECT @@SESSION.innodb_lock_wait_timeout", row -> row.getLong(1));
        limitLockWaits(connection, Math.min(before, seconds));
        boolean locked;
        try {
            locked = lock.lock("");
        } catch (SQLException e) {
            try {
                limitLockWaits(connection, before);
            } catch (SQLException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        limitLockWaits(connection, before);
        return locked;
    }

    @Override
    public boolean isReadOnly(SqlSession session) throws SQLException {
        return session.connection().isReadOnly();
    }

    /** Galera and group replication: {@code FOR UPDATE} and {@code GET_LOCK} lock on the server that is asked, alone. */
    @Override
    public void refuseSeveralPrimaries(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SEVERAL_PRIMARIES)) {
            if (row.next()) {
                throw new StoreRefusedException(
                        "no locks of transactions or sessions can be kept on a server that is one of several primaries ("
                                + row.getString(1) + " is " + row.getString(2)
                                + "): what is locked on one is not locked on"
                                + " the others; use locks with a lease (client.lock)");
            }
        }
    }

    @Override
    public void limitTransaction(Connection connection, int seconds) throws SQLException {
        limitLockWaits(connection, seconds);
    }

    private static void limitLockWaits(Connection connection, long seconds) throws SQLException {
        SqlSession.execute(connection, "SET SESSION innodb_lock_wait_timeout = " + seconds);
    }

    @Override
    public void checkNotRolledBack(Connection connection, SQLException held) throws SQLException {
        boolean rolledBack =
                SqlSession.only(connection, "SELECT @@innodb_rollback_on_timeout", row -> row.getBoolean(1));
        if (rolledBack) {
            throw new SQLException(
                    "the lock is held by another transaction, and the server has rolled this one back"
                            + " (innodb_rollback_on_timeout is on); begin again",
                    "40001",
                    held);
        }
    }

    @Override
    public String grants(String table) {
        return "--   GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO application@'%';";
    }

    @Override
    public String waitingConnections() {
        return "none more while a lock is waited for; a waiting client reads one row every 0.25 to 200 ms";
    }

    @Override
    public void prepare(SqlSession session, int seconds) throws SQLException {
        session.execute("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',"
                + " SESSION innodb_lock_wait_timeout = " + seconds
                + (isMariaDb(session) ? ", SESSION max_statement_time = " + seconds : ""));
    }

    @Override
    public List<String> settingBack(SqlSession session) throws SQLException {
        boolean limits = isMariaDb(session);
        String query = "SELECT @@SESSION.sql_mode, @@SESSION.innodb_lock_wait_timeout"
                + (limits ? ", @@SESSION.max_statement_time" : "");
        return session.only(
                query,
                row -> List.of("SET SESSION sql_mode = '" + row.getString(1) + "', SESSION innodb_lock_wait_timeout = "
                        + row.getLong(2) + (limits ? ", SESSION max_statement_time = " + row.getBigDecimal(3) : "")));
    }

    /** MySQL has no such time-out for statements that change something. */
    static boolean isMariaDb(SqlSession session) throws SQLException {
        String version = session.connection().getMetaData().getDatabaseProductVersion();
        return version.toLowerCase(Locale.ROOT).contains("maria");
    }

    @Override
    public Optional<Claimed> claim(SqlSession session, RowSql sql, ClaimArguments arguments) throws SQLException {
        long number = session.updateForKey(arguments.of(sql), arguments.update());
        return number == 0
                ? Optional.empty()
                : Optional.of(new Claimed(true, false, new RowSnapshot(RowSql.LAYOUT, LockRow.free(number, 0))));
    }

    /**
     * Only the number of changed rows says which grants are valid: a proxy that splits reads from writes may answer a SELECT from a
     * replica that lags behind. Where some grants are gone, halves find out which. The SELECT only shows which claims wait.
     */
    @Override
    public Map<String, Boolean> renew(SqlSession session, RowSql sql, long lease, List<GrantKey> keys)
            throws SQLException {
        List<GrantKey> valid = new ArrayList<>();
        renew(session, sql, lease, keys, valid);
        if (valid.isEmpty()) {
            return Map.of();
        }
        Map<String, Boolean> contended =
                GrantKey.valid(session, sql.renewed(GrantKey.rows(valid)), GrantKey.names(valid), valid);
        Map<String, Boolean> renewed = new HashMap<>();
        valid.forEach(key -> renewed.put(key.id(), contended.getOrDefault(key.id(), false)));
        return renewed;
    }

    private static void renew(SqlSession session, RowSql sql, long lease, List<GrantKey> keys, List<GrantKey> valid)
            throws SQLException {
        int changed = session.update(sql.renew(GrantKey.rows(keys)), GrantKey.arguments(lease, keys));
        if (changed == keys.size()) {
            valid.addAll(keys);
        } else if (changed > 0) {
            renew(session, sql, lease, keys.subList(0, keys.size() / 2), valid);
            renew(session, sql, lease, keys.subList(keys.size() / 2, keys.size()), valid);
        }
    }

    @Override
    public boolean givesRowsBack() {
        return false;
    }

    @Override
    public String driver() {
        return "org.mariadb.jdbc:mariadb-java-client or com.mysql:mysql-connector-j";
    }

    @Override
    public Map<String, String> driverProperties(int seconds) {
        String millis = Integer.toString(1000 * seconds);
        return Map.of("connectTimeout", millis, "socketTimeout", millis, "tcpKeepAlive", "true");
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "A server that loses committed transactions (asynchronous failover,"
                        + " innodb_flush_log_at_trx_commit other than 1) may forget the latest grants; tokens then rise as"
                        + " far as the servers' clocks agree.",
                "Waiters in other processes are not notified: the first in the queue polls every 0.25 to 20 ms, the others less"
                        + " often.");
    }

    @Override
    public Set<String> passing() {
        return Set.of();
    }
}
