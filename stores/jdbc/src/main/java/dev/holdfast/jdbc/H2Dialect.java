package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * H2 2.2 or later, most often inside the process that uses it: its clients notify each other there. Clients of an H2
 * server in several processes poll.
 */
final class H2Dialect extends BytesDialect {
    /** What the database keeps, and what it goes by: the first is forgotten when it is opened again. */
    private static final String WRITE_DELAY =
            "SELECT CAST(SETTING_VALUE AS BIGINT) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'"
                    + " AND DATABASE_PATH() IS NOT NULL"; // in memory there is nothing to write

    @Override
    public String title() {
        return "H2";
    }

    @Override
    public List<String> names() {
        return List.of("h2");
    }

    /** Frozen for a transaction, and each of our statements is one. DATEDIFF would count in the session's time zone. */
    @Override
    public String now() {
        return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";
    }

    @Override
    public String givenBack(String expression) {
        return expression;
    }

    /** A row that is there already is a failure that passes: the request is made again, and finds it. */
    @Override
    public String insertIfAbsent(String table, String columns, String values) {
        return "INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ")";
    }

    /** Some modes of H2 have no LIMIT. */
    @Override
    public String rows(String number, int others) {
        return (others == 0 ? "" : " OFFSET " + others + " ROWS") + " FETCH FIRST " + number + " ROWS ONLY";
    }

    @Override
    public String insertByHand(String table, String columns, String values) {
        return "INSERT INTO " + table + " (" + columns + ") SELECT " + values + " WHERE NOT EXISTS (SELECT 1 FROM "
                + table + " WHERE name = X'')";
    }

    @Override
    public List<String> createTable(String table) {
        return List.of("CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name VARBINARY(1020) NOT NULL PRIMARY KEY,
                  layout SMALLINT NOT NULL,
                  version BIGINT NOT NULL,
                  claim_id VARCHAR(32),
                  grant_number BIGINT NOT NULL,
                  acquired_at BIGINT NOT NULL,
                  expires_at BIGINT NOT NULL,
                  waiting VARCHAR(1000000) NOT NULL,
                  sharing VARCHAR(1000000) NOT NULL,
                  host VARCHAR(255) NOT NULL,
                  pid BIGINT NOT NULL,
                  thread VARCHAR(255) NOT NULL,
                  label VARCHAR(255) NOT NULL
                )""");
    }

    @Override
    public String schemas(Optional<String> schema, String table) {
        return "SELECT TABLE_SCHEMA FROM INFORMATION_SCHEMA.TABLES WHERE UPPER(TABLE_NAME) = UPPER('" + table
                + "') ORDER BY UPPER(TABLE_SCHEMA) <> UPPER("
                + schema.map(name -> "'" + name + "'").orElse("SCHEMA()") + "), 1";
    }

    @Override
    public List<String> createRecords(String table) {
        return List.of(
                "CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name VARBINARY(1020) NOT NULL PRIMARY KEY,
                  token BIGINT NOT NULL,
                  revision BIGINT NOT NULL,
                  written_at BIGINT NOT NULL,
                  keep_until BIGINT NOT NULL,
                  content VARCHAR(4000) NOT NULL
                )""",
                "CREATE INDEX IF NOT EXISTS " + ServerRecords.index(table) + " ON " + table + " (keep_until)");
    }

    @Override
    public String createRows(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " (name VARBINARY(1020) NOT NULL PRIMARY KEY)";
    }

    @Override
    public String textOf(String time) {
        return "CAST(" + time + " AS VARCHAR)";
    }

    @Override
    public String laterThan(String column, long micros) {
        return "GREATEST(CURRENT_TIMESTAMP(6), DATEADD(MICROSECOND, " + micros + ", " + column + "))";
    }

    @Override
    public String sessionId() {
        return "SESSION_ID()";
    }

    @Override
    public boolean lockWithin(Connection connection, long millis, RowLocking lock) throws SQLException {
        return lock.lock(" WAIT " + BigDecimal.valueOf(millis, 3));
    }

    @Override
    public void limitTransaction(Connection connection, int seconds) throws SQLException {
        SqlSession.execute(connection, "SET LOCK_TIMEOUT " + 1000 * seconds);
    }

    @Override
    public String grants(String table) {
        return "--   GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO application;";
    }

    @Override
    public String waitingConnections() {
        return "none more while a lock is waited for; clients of other processes read one row every 0.25 to 200 ms";
    }

    @Override
    public void prepare(SqlSession session, int seconds) throws SQLException {
        if (session.only("SELECT CASE WHEN '' IS NULL THEN 1 ELSE 0 END", row -> row.getInt(1) == 1)) {
            throw new StoreRefusedException(
                    "cannot keep locks in an H2 database with MODE=Oracle, where an empty text is"
                            + " NULL; leave the mode out of the URL, or keep the locks in another database");
        }
        session.execute("SET LOCK_TIMEOUT " + 1000 * seconds);
        if (session.all(WRITE_DELAY, row -> row.getLong(1), List.of()).stream().anyMatch(delay -> delay > 0)) {
            session.execute("SET WRITE_DELAY 0"); // of the whole database, for as long as it is open
        }
    }

    @Override
    public List<String> settingBack(SqlSession session) throws SQLException {
        return List.of("SET LOCK_TIMEOUT " + session.only("SELECT LOCK_TIMEOUT()", row -> row.getLong(1)));
    }

    @Override
    public Optional<Claimed> claim(SqlSession session, RowSql sql, ClaimArguments arguments) throws SQLException {
        String update = arguments.of(sql);
        String statement = sql.once(
                update, () -> "SELECT " + RowSql.COLUMNS + ", " + sql.now + " FROM FINAL TABLE (" + update + ")");
        return session
                .all(statement, row -> new Claimed(true, false, RowSnapshot.read(row, 1)), arguments.update())
                .stream()
                .findFirst();
    }

    @Override
    public Map<String, Boolean> renew(SqlSession session, RowSql sql, long lease, List<GrantKey> keys)
            throws SQLException {
        String statement =
                "SELECT " + RowSql.renewedColumns() + " FROM FINAL TABLE (" + sql.renew(GrantKey.rows(keys)) + ")";
        return GrantKey.valid(session, statement, GrantKey.arguments(lease, keys), keys);
    }

    @Override
    public boolean givesRowsBack() {
        return true;
    }

    @Override
    public String driver() {
        return "com.h2database:h2";
    }

    /** H2 ignores {@code setNetworkTimeout}, so the limit is set when the connection is opened. */
    @Override
    public Map<String, String> driverProperties(int seconds) {
        return Map.of("NETWORK_TIMEOUT", Integer.toString(1000 * seconds));
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "A database in memory forgets its locks with its process.",
                "A commit of H2 reaches the file before it is answered (WRITE_DELAY is set to 0), but no disk is forced: a"
                        + " power cut may forget the latest grants. So may an H2 that is killed: when it is opened again,"
                        + " it does not always find the commit that it wrote last into space used before.",
                "Waiters in other processes, on an H2 server, are not notified: the first in the queue polls every 0.25 to 20 ms,"
                        + " the others less often.");
    }

    /** Two statements met on one row or one name. */
    @Override
    public Set<String> passing() {
        return Set.of("90131", "23505", "40001");
    }
}
