package dev.holdfast.jdbc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.postgresql.util.PSQLWarning;

/**
 * PostgreSQL, 12 or later.
 *
 * <p>A claim is one statement with data-modifying parts, which claims the row, or inserts it, or returns its state; a
 * lock that is held is only read by it. A change on which nobody relies yet (a release, an offer, a place in a queue) is
 * committed without waiting for the disk: the next grant, which does wait, carries it along, and a crash before that only
 * leaves a lock held until its lease ends. Offers are sent by {@code pg_notify} in the statement that makes
 * them, and only if the client is in another process.
 */
final class PostgresDialect implements ServerDialect {
    /** A proxy that splits reads from writes (Pgpool-II) sends a statement that begins so to the primary. */
    static final String PRIMARY = "/*NO LOAD BALANCE*/ ";

    /** No table has such a name, with a blank, so that each name of a table may be given. */
    static final String UPDATED = "\"updated row\"";

    private static final String INSERTED = "\"new row\"";
    private static final String SETTING = "\"setting of commits\"";

    private static final String UNFORCED =
            "WITH " + SETTING + " AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS off) ";
    private static final String NOTIFY = ", pg_notify(?, ?)";
    /** A number of nobody else's: "holdfast" in ASCII. */
    private static final long CREATION = 0x686f6c6466617374L;

    /** Limits statements of the transaction to some milliseconds unless they are limited to less; what it was before. */
    private static final String LIMIT = "WITH s AS MATERIALIZED (SELECT setting::bigint AS before FROM pg_settings"
            + " WHERE name = 'statement_timeout') SELECT before, set_config('statement_timeout', (CASE WHEN before > 0 AND"
            + " before < ? THEN before ELSE ? END)::text, true) FROM s";

    /** The second keeps bytes as they come. */
    private static final Set<String> ALL_CHARACTERS = Set.of("UTF8", "SQL_ASCII");

    /** A schema with such a letter, before the dot: without quotes, the server would look for one in small letters. */
    private static final Pattern UPPER_CASE = Pattern.compile("^(\\w*[A-Z]\\w*)(?=\\.)");

    /** A setting: a warning tells that a commit was not replicated, and a role may have warnings left out. */
    static final String WITH_WARNINGS = "client_min_messages = warning";

    private static final String CANCELLED = "57014";
    private static final int ANSWERS_TO_LOG_IN = 3;
    private static final int SECONDS_TO_CANCEL = 1;
    private static final String CHANNEL = "holdfast_";

    @Override
    public String title() {
        return "PostgreSQL";
    }

    @Override
    public List<String> names() {
        return List.of("postgresql");
    }

    /** Moves with every statement, also in a long transaction; {@code now()} does not. */
    @Override
    public String now() {
        return "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint";
    }

    @Override
    public String givenBack(String expression) {
        return expression;
    }

    @Override
    public String insertIfAbsent(String table, String columns, String values) {
        return "INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ") ON CONFLICT (name) DO NOTHING";
    }

    @Override
    public String readToChange(String query) {
        return PRIMARY + query;
    }

    @Override
    public String readToPoll(String query) {
        return readToChange(query);
    }

    @Override
    public Object name(String name) {
        return name;
    }

    /** Any encoding has the letters of ASCII, in that order. Behind a prefix without one, there may be any name. */
    @Override
    public Object behind(String prefix) {
        int end = prefix.length();
        while (end > 0 && prefix.charAt(end - 1) > '~') {
            end--;
        }
        return end == 0 ? "" : prefix.substring(0, end - 1) + (char) (prefix.charAt(end - 1) + 1);
    }

    @Override
    public String bound(String table) {
        return "COALESCE(NULLIF(?, ''), (SELECT max(name) || '.' FROM " + table + "))";
    }

    @Override
    public String quoted(String table) {
        return UPPER_CASE.matcher(table).replaceFirst("\"$1\"");
    }

    @Override
    public void requireSchema(SqlSession session, JdbcOptions options) throws SQLException {
        String found = options.schema()
                .map(name -> "(SELECT nspname FROM pg_namespace WHERE nspname = '" + name + "')")
                .orElse("current_schema()");
        if (session.only("SELECT " + found, row -> row.getString(1) == null)) {
            throw new SQLException("no schema to create a table in", "3F000");
        }
    }

    @Override
    public String name(ResultSet row, int column) throws SQLException {
        return row.getString(column);
    }

    /** Half of each page is left free, so that a new version of a row finds room beside the old and no index changes. */
    @Override
    public List<String> createTable(String table) {
        return List.of("CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name text COLLATE "C" NOT NULL PRIMARY KEY,
                  layout smallint NOT NULL,
                  version bigint NOT NULL,
                  claim_id varchar(32),
                  grant_number bigint NOT NULL,
                  acquired_at bigint NOT NULL,
                  expires_at bigint NOT NULL,
                  waiting text NOT NULL,
                  sharing text NOT NULL,
                  host varchar(255) NOT NULL,
                  pid bigint NOT NULL,
                  thread varchar(255) NOT NULL,
                  label varchar(255) NOT NULL
                ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000)""");
    }

    @Override
    public List<String> createUnlogged(String table) {
        List<String> all = new ArrayList<>(UnloggedRows.createTable(this, table));
        createTable(table).forEach(each -> all.add(each.replace("CREATE TABLE", "CREATE UNLOGGED TABLE")));
        return all;
    }

    @Override
    public Optional<Boolean> isUnlogged(SqlSession session, String table) throws SQLException {
        return session
                .each(
                        PRIMARY
                                + "SELECT relpersistence = 'u', pg_is_in_recovery() FROM pg_class WHERE oid = to_regclass('"
                                + table + "')",
                        PostgresDialect::isUnlogged)
                .stream()
                .findFirst();
    }

    private static boolean isUnlogged(ResultSet row) throws SQLException {
        if (row.getBoolean(1) && row.getBoolean(2)) {
            throw new SQLException("an unlogged table cannot be read on a replica", "25006");
        }
        return row.getBoolean(1);
    }

    @Override
    public void lockCreation(SqlSession session, boolean taken) throws SQLException {
        session.execute("SELECT " + (taken ? "pg_advisory_lock(" : "pg_advisory_unlock(") + CREATION + ")");
    }

    @Override
    public List<String> createRecords(String table) {
        return List.of(
                "CREATE TABLE IF NOT EXISTS " + table + """
                 (
                  name text COLLATE "C" NOT NULL PRIMARY KEY,
                  token bigint NOT NULL,
                  revision bigint NOT NULL,
                  written_at bigint NOT NULL,
                  keep_until bigint NOT NULL,
                  content text NOT NULL
                )""",
                "CREATE INDEX IF NOT EXISTS " + ServerRecords.index(table) + " ON " + table + " (keep_until)");
    }

    /** Also those whose tables the user may not read: the catalog shows them all. */
    @Override
    public String schemas(Optional<String> schema, String table) {
        String ours = "'" + quoted(schema.map(name -> name + ".").orElse("") + table) + "'::regclass";
        return "SELECT n.nspname FROM pg_class o JOIN pg_class c USING (relname) JOIN pg_namespace n ON n.oid ="
                + " c.relnamespace WHERE o.oid = " + ours + " AND c.relkind = o.relkind ORDER BY c.oid <> o.oid, 1";
    }

    @Override
    public Optional<SessionDialect> sessions() {
        return Optional.of(new PostgresSessions());
    }

    @Override
    public String createRows(String table) {
        return "CREATE TABLE IF NOT EXISTS " + table + " (name text COLLATE \"C\" NOT NULL PRIMARY KEY)";
    }

    /** The driver applies it to statements in autocommit only with {@code readOnlyMode=always}. */
    @Override
    public boolean isReadOnly(SqlSession session) throws SQLException {
        return session.connection().isReadOnly()
                && session.only("SHOW transaction_read_only", row -> row.getString(1))
                        .equals("on");
    }

    @Override
    public String textOf(String time) {
        return "CAST(" + time + " AS varchar)";
    }

    @Override
    public String laterThan(String column, long micros) {
        return "GREATEST(clock_timestamp(), " + column + " + interval '" + micros + " microseconds')";
    }

    @Override
    public String sessionId() {
        return "pg_backend_pid()";
    }

    @Override
    public boolean failureEndsTransaction() {
        return true;
    }

    /**
     * {@code lock_timeout} counts again for each transaction that gets in before; the limit of the whole statement does
     * not. One that the caller has set, and is shorter, goes on to count.
     */
    @Override
    public boolean lockWithin(Connection connection, long millis, RowLocking lock) throws SQLException {
        long before = SqlSession.only(connection, LIMIT.replace("?", Long.toString(millis)), row -> row.getLong(1));
        long began = System.nanoTime();
        try {
            boolean locked = lock.lock("");
            SqlSession.execute(connection, "SET LOCAL statement_timeout = " + before);
            return locked;
        } catch (SQLException e) {
            boolean limitIsOurs = before == 0 || before >= millis;
            long waited = System.nanoTime() - began; // by this machine's clock, which may be slower than the server's
            if (CANCELLED.equals(e.getSQLState()) && limitIsOurs && waited >= MILLISECONDS.toNanos(millis) * 9 / 10) {
                throw new SQLTimeoutException("others hold the row", "55P03", e);
            }
            throw e;
        }
    }

    @Override
    public String grants(String table) {
        return "--   GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO application;";
    }

    @Override
    public String waitingConnections() {
        return "1 more that LISTENs while a lock is waited for; directly, or through a pooler in session mode";
    }

    /** For the transaction alone: a pooler lends its session to others afterwards. */
    @Override
    public void limitTransaction(Connection connection, int seconds) throws SQLException {
        SqlSession.execute(connection, "SET LOCAL statement_timeout = '" + seconds + "s'; SET LOCAL " + WITH_WARNINGS);
    }

    /** It may wait for a standby, and the limit of a transaction has ended then. */
    @Override
    public void commit(Connection connection, int seconds) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(seconds);
            statement.execute("COMMIT");
            if (mayBeUnreplicated(statement)) {
                throw new SQLTimeoutException("the commit was cancelled", "HYT00");
            }
        }
    }

    /** Recognizes the warning by the server's function: its text is translated, and other warnings share its SQLSTATE. */
    @Override
    public boolean mayBeUnreplicated(Statement answered) throws SQLException {
        for (SQLWarning each = answered.getWarnings(); each != null; each = each.getNextWarning()) {
            if (each instanceof PSQLWarning warning
                    && "SyncRepWaitForLSN"
                            .equals(warning.getServerErrorMessage().getRoutine())) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void prepare(SqlSession session, int seconds) throws SQLException {
        session.execute("SET statement_timeout = '" + seconds + "s'; SET " + WITH_WARNINGS);
        session.execute("SET plan_cache_mode = force_generic_plan"); // they all go by the primary key
        limitTexts(session);
    }

    /** Texts for people lose what the database's encoding lacks. Java and the server agree on the small encodings. */
    static void limitTexts(SqlSession session) throws SQLException {
        String encoding = session.only("SELECT current_setting('server_encoding')", row -> row.getString(1));
        if (ALL_CHARACTERS.contains(encoding)) {
            return;
        }
        String name = encoding.replace("WIN", "windows-").replace("KOI8", "KOI8-");
        CharsetEncoder known = (Charset.isSupported(name) ? Charset.forName(name) : US_ASCII).newEncoder();
        session.limitTexts(known.maxBytesPerChar() == 1 ? known : US_ASCII.newEncoder());
    }

    @Override
    public void refuseSharedSessions(SqlSession session, Connections more) throws SQLException {
        PostgresPooler.refuse(session.connection(), more);
    }

    @Override
    public List<String> settingBack(SqlSession session) throws SQLException {
        return session.only(
                "SELECT current_setting('statement_timeout'), current_setting('plan_cache_mode'),"
                        + " current_setting('client_min_messages')",
                row -> List.of(
                        "SET statement_timeout = '" + row.getString(1) + "'",
                        "SET plan_cache_mode = '" + row.getString(2) + "'",
                        "SET client_min_messages = '" + row.getString(3) + "'"));
    }

    @Override
    public Optional<Claimed> claim(SqlSession session, RowSql sql, ClaimArguments arguments) throws SQLException {
        List<Object> all = new ArrayList<>(arguments.update());
        all.addAll(arguments.insert());
        all.add(arguments.name());
        all.add(arguments.name());
        String update = arguments.of(sql);
        String statement = sql.once(update, () -> claiming(sql, update));
        return session.all(statement, PostgresDialect::claimed, all).stream().findFirst();
    }

    private static Claimed claimed(ResultSet row) throws SQLException {
        int how = row.getInt(1);
        return new Claimed(how > 0, how == 2, RowSnapshot.read(row, 2));
    }

    private static String claiming(RowSql sql, String update) {
        String columns = RowSql.COLUMNS + ", " + sql.now + " AS at";
        return PRIMARY + "WITH " + UPDATED + " AS (" + update + " RETURNING " + columns + "), " + INSERTED + " AS ("
                + sql.insert.replace("VALUES (", "SELECT ").replace(") ON CONFLICT", absent(sql) + " ON CONFLICT")
                + " RETURNING " + columns + ") SELECT 1, * FROM " + UPDATED + " UNION ALL SELECT 2, * FROM " + INSERTED
                + " UNION ALL SELECT 0, " + columns + " FROM " + sql.table
                + " WHERE name = ? AND NOT EXISTS (SELECT 1 FROM "
                + UPDATED + ") AND NOT EXISTS (SELECT 1 FROM " + INSERTED + ")";
    }

    private static String absent(RowSql sql) {
        return " WHERE NOT EXISTS (SELECT 1 FROM " + sql.table + " WHERE name = ?)";
    }

    @Override
    public boolean write(SqlSession session, RowSql sql, List<?> arguments, List<WaiterEntry> notified, boolean durable)
            throws SQLException {
        List<Object> all = new ArrayList<>(arguments);
        notified.forEach(each -> all.addAll(List.of(CHANNEL + each.channel(), each.id())));
        String statement = sql.once(
                "write " + durable + notified.size(),
                () -> written(sql.write, durable, String.join("", Collections.nCopies(notified.size(), NOTIFY))));
        return !session.all(statement, row -> true, all).isEmpty();
    }

    @Override
    public boolean release(SqlSession session, RowSql sql, List<?> arguments) throws SQLException {
        String statement = sql.once("release", () -> written(sql.release, false, ""));
        return !session.all(statement, row -> true, arguments).isEmpty();
    }

    /** The update behind what precedes it, whose commit does not wait for the disk. */
    static String unforced(String before, String update) {
        return UNFORCED + before + update.replace(" WHERE ", " FROM " + SETTING + " WHERE off = 'off' AND ");
    }

    private static String written(String update, boolean durable, String notes) {
        String what = durable ? "WITH " + UPDATED + " AS (" + update : unforced(", " + UPDATED + " AS (", update);
        return PRIMARY + what + " RETURNING version) SELECT version" + notes + " FROM " + UPDATED;
    }

    @Override
    public Map<String, Boolean> renew(SqlSession session, RowSql sql, long lease, List<GrantKey> keys)
            throws SQLException {
        String statement = sql.renew(GrantKey.rows(keys)) + " RETURNING " + RowSql.renewedColumns();
        return GrantKey.valid(session, statement, GrantKey.arguments(lease, keys), keys);
    }

    @Override
    public OfferListener offerListener(OfferListener.Listener listener, String channel, Connections connections) {
        return new PostgresOfferListener(listener, CHANNEL + channel, connections);
    }

    @Override
    public boolean pushes() {
        return true;
    }

    @Override
    public boolean givesRowsBack() {
        return true;
    }

    @Override
    public String driver() {
        return "org.postgresql:postgresql";
    }

    /**
     * A log-in takes several answers, and on a busy machine that has just started longer than any one of them. A statement
     * that is cancelled returns after the server has closed the connection of the cancel; the driver would wait 10 s for that.
     */
    @Override
    public Map<String, String> driverProperties(int seconds) {
        return Map.of(
                "connectTimeout",
                Integer.toString(seconds),
                "loginTimeout",
                Integer.toString(ANSWERS_TO_LOG_IN * seconds),
                "socketTimeout",
                Integer.toString(seconds),
                "cancelSignalTimeout",
                Integer.toString(SECONDS_TO_CANCEL),
                "prepareThreshold",
                "1",
                "tcpKeepAlive",
                "true",
                "ApplicationName",
                "holdfast");
    }

    @Override
    public List<String> caveats() {
        return List.of(
                "A server that loses committed transactions (asynchronous failover, synchronous_commit=off, fsync=off)"
                        + " may forget the latest grants; tokens then rise as far as the servers' clocks agree.",
                "LISTEN does not pass a transaction-pooling proxy: waiting claims are then slow, so connect directly.");
    }

    @Override
    public Set<String> passing() {
        return Set.of();
    }
}
