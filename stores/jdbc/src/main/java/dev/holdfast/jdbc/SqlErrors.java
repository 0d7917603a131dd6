package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.util.List;
import java.util.Set;

/**
 * What servers' failures mean for a lock, by SQL state or error code, and what to do about them. No text shows a user, a
 * password or a URL.
 *
 * @param dialect the database
 * @param store the store, as messages name it
 * @param table where its locks, or its fence, are
 * @param script the command that prints the SQL for it
 */
record SqlErrors(ServerDialect dialect, String store, String table, String script) {
    private static final Set<String> PASSING = Set.of("40001", "40P01", "55P03", "1213", "1205", "1020", "90131");
    private static final Set<String> LOCKED_OUT = Set.of("1205", "55P03");
    /** Where a caller's transaction locks a row: H2 and MySQL have codes of their own. */
    private static final Set<String> HELD_BY_OTHERS = Set.of("1205", "3572", "55P03", "50200");

    private static final Set<String> MISSING_COLUMN = Set.of("42703", "1054", "42122");

    /** The last one: MariaDB's driver of several hosts has connected again, to a session in which nothing is set. */
    private static final Set<String> BROKEN =
            Set.of("57P01", "57P02", "57P03", "57P05", "1927", "4031", "2006", "2013", "90067", "90121", "25S03");
    /** After a planned switchover, the connections to what was the primary. Nothing was done. */
    private static final Set<String> READ_ONLY = Set.of("25006", "1290", "1792", "1836");

    private static final Set<String> DENIED = Set.of("42501", "1142", "1143", "1370", "90096");

    private static final Set<String> MISSING_TABLE = Set.of("42P01", "1146", "42S02", "42102", "42103", "42104");

    private static final Set<String> MISSING_SCHEMA = Set.of("3F000", "90079");

    /** MariaDB and MySQL answer so for a table without any privilege, whether it is there or not. */
    private static final Set<String> HIDING_ABSENCE = Set.of("1142");

    /** Two clients create the table at the same time; PostgreSQL may find the type of its rows first (42710). */
    private static final Set<String> MADE_MEANWHILE = Set.of("23505", "42P07", "42710", "1050", "42S01", "XX000");

    /** A failure, and what it means: refused for good, or only for now. */
    private record Meaning(Set<String> codes, boolean forGood, String words) {}

    /** The first that fits: MariaDB and MySQL give 1040 the state 08004, which drivers use for a refused password too. */
    private static final List<Meaning> MEANINGS = List.of(
            new Meaning(
                    Set.of("53300", "1040", "1203", "1226"),
                    false,
                    "the server accepts no more connections; raise its limit, or open fewer"),
            new Meaning(
                    Set.of("28P01", "28000", "1045", "1698", "08004", "1044"),
                    true,
                    "the server refused the user or the password; correct them, in the URL or HOLDFAST_PASSWORD"),
            new Meaning(
                    Set.of("3D000", "1049", "90146", "90013"),
                    true,
                    "no such database or schema exists; create it, or correct the URL"),
            new Meaning(
                    READ_ONLY,
                    false,
                    "the server accepts no writes here: it is a replica or read-only, or this transaction is; connect to the"
                            + " primary, or wait until the address leads to it"),
            new Meaning(Set.of("90097"), true, "the database is read-only; open it for writing"),
            new Meaning(
                    Set.of("90040"),
                    true,
                    "the database delays its commits (WRITE_DELAY), and this user may not change that; have an administrator"
                            + " run SET WRITE_DELAY 0 each time after the database was opened"),
            new Meaning(
                    Set.of("1665"),
                    true,
                    "the server's binary log accepts no statements in READ COMMITTED; set binlog_format to ROW or MIXED"),
            new Meaning(
                    Set.of("57014", "1969", "3024", "1205", "55P03", "57P04", "HYT00"),
                    false,
                    "a statement reached its time limit; find out which session locks the table or the row, or whether commits wait"
                            + " for a synchronous standby that is away"),
            new Meaning(
                    Set.of("53200"),
                    false,
                    "the server is out of shared memory, most often because its table of locks is full; raise"
                            + " max_locks_per_transaction, or hold fewer locks of sessions"),
            new Meaning(
                    Set.of("22P05", "22021"),
                    true,
                    "the database's encoding has not all characters of this name; use another name, or keep the locks in"
                            + " a database in UTF8"),
            new Meaning(
                    Set.of("22001", "1406", "1153"),
                    false,
                    "the row of this lock has no room for another holder or waiter; try again when some have ended"));

    /** Of a table of locks. */
    SqlErrors(ServerDialect dialect, String store, String table) {
        this(dialect, store, table, "holdfast schema " + dialect.names().get(0));
    }

    /** The same, with the command that prints the SQL for these options. */
    SqlErrors of(JdbcOptions options) {
        return options.unlogged()
                ? new SqlErrors(dialect, store, table, script.replace("schema", "schema --unlogged"))
                : this;
    }

    /** What a thread was to do is not done. */
    StoreRefusedException noThread(Error why) {
        return new StoreRefusedException(
                "no thread could be started for requests to " + store
                        + ": this process or its container has as many as it may; raise the limit, or end some",
                why);
    }

    /** Of the table of a fence. */
    static SqlErrors ofFence(ServerDialect dialect, String store, String table) {
        return new SqlErrors(
                dialect,
                store,
                table,
                "holdfast schema --fence " + dialect.names().get(0));
    }

    /**
     * The same, with the schema in which a connection has found the table. Where the connection's settings have chosen it,
     * and others have such a table too, a warning is logged: their clients do not exclude this one. Where it was named, that
     * is so for names that differ in the case of letters alone: other clients may write them without quotes.
     */
    SqlErrors found(SqlSession session, JdbcOptions options) throws SQLException {
        String name = table.substring(table.indexOf('.') + 1);
        List<String> schemas = session.each(dialect.schemas(options.schema(), name), row -> row.getString(1));
        if (schemas.isEmpty()) {
            return this;
        }
        String found = schemas.get(0) + "." + name;
        List<String> others = schemas.subList(1, schemas.size()).stream()
                .filter(other -> options.schema().isEmpty() || other.equalsIgnoreCase(schemas.get(0)))
                .toList();
        if (!others.isEmpty()) {
            SqlSession.warn("the locks on " + store + " are in table " + found + ", and schemas " + others
                    + " have a table of that name too: its clients and these do not exclude each other; name one schema for"
                    + " all, by holdfast.schema in the URL or JdbcOptions.schema");
        }
        return new SqlErrors(dialect, store + ", table " + found, table, script);
    }

    /** Refuses a connection that its owner has set to take no writes. */
    void refuseReadOnly(SqlSession session) throws SQLException {
        if (dialect.isReadOnly(session)) {
            throw new StoreRefusedException("cannot keep locks on " + store
                    + ": its connections are read-only (readOnly of the pool, or Connection.setReadOnly); take a"
                    + " DataSource whose connections may write");
        }
    }

    /** Whether the same may be tried again at once, on the same connection. */
    boolean isPassing(SQLException e) {
        return has(e, PASSING) || has(e, dialect.passing());
    }

    /** Whether it has waited for somebody else's lock for as long as a statement may: to try again costs as much again. */
    boolean isLockedOut(SQLException e) {
        return has(e, LOCKED_OUT);
    }

    /** Whether a wait for a row, in a transaction of the caller, ended without it. */
    static boolean isHeldByOthers(SQLException e) {
        return has(e, HELD_BY_OTHERS);
    }

    /** Whether transactions met, and the same may be tried again from the beginning. */
    static boolean isConflict(SQLException e) {
        return has(e, PASSING) && !has(e, LOCKED_OUT);
    }

    static boolean isMissingColumn(SQLException e) {
        return has(e, MISSING_COLUMN) || String.valueOf(e.getMessage()).contains("no such column");
    }

    boolean isBroken(SQLException e) {
        return e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException
                || state(e).startsWith("08")
                || has(e, BROKEN);
    }

    /** Whether the server takes no writes: another connection may lead to one that does. */
    boolean isReadOnly(SQLException e) {
        return has(e, READ_ONLY);
    }

    /** Whether a right is missing. */
    static boolean isDenied(SQLException e) {
        return has(e, DENIED);
    }

    /** Whether code in the database raised it: RAISE in PostgreSQL, SIGNAL in MariaDB and MySQL. The same would happen again. */
    private static boolean isRaised(SQLException e) {
        return state(e).startsWith("P0") || state(e).equals("45000");
    }

    boolean isMissing(SQLException e) {
        return has(e, MISSING_TABLE) && !isBroken(e);
    }

    boolean mayBeMissing(SQLException e) {
        return isMissing(e) || has(e, MADE_MEANWHILE);
    }

    String cannot(String what, String name) {
        return "cannot " + what + (name.isEmpty() ? "" : " '" + name + "'") + " on " + store;
    }

    /** The exception for callers. */
    HoldfastException explain(String what, String name, SQLException e) {
        String cannot = cannot(what, name) + ": ";
        String schema = "'" + script + "'";
        for (Meaning meaning : MEANINGS) {
            if (has(e, meaning.codes)) {
                return meaning.forGood
                        ? new StoreRefusedException(cannot + meaning.words, e)
                        : new StoreUnavailableException(cannot + meaning.words, e);
            }
        }
        if (has(e, MISSING_SCHEMA)) {
            int dot = table.indexOf('.');
            return new StoreRefusedException(
                    cannot
                            + (dot < 0
                                    ? "the connection has no schema to keep table " + table + " in (" + firstLine(e)
                                            + "); set its own, such as search_path, or name one by holdfast.schema in the URL"
                                            + " or JdbcOptions.schema"
                                    : "schema " + table.substring(0, dot)
                                            + " does not exist; create it, or correct the schema's name"),
                    e);
        }
        if (isMissing(e)) {
            return new StoreRefusedException(
                    cannot + "table " + table + (table.contains(".") ? ", or its schema," : "")
                            + " does not exist; run the SQL printed by " + schema,
                    e);
        }
        if (isDenied(e)) {
            String orAbsent = has(e, HIDING_ABSENCE) ? ", or no such table" : "";
            return new StoreRefusedException(
                    cannot + "missing privilege on table " + table + orAbsent
                            + "; have an administrator run the SQL printed by " + schema,
                    e);
        }
        if (state(e).startsWith("42") || has(e, Set.of("1054", "1364", "1366"))) {
            return new StoreRefusedException(
                    cannot + "table " + table + " has another shape than Holdfast's tables (" + firstLine(e)
                            + "); use another table, or create it with the SQL printed by " + schema,
                    e);
        }
        if (isRaised(e)) {
            return new StoreRefusedException(
                    cannot + "a trigger or function in the database refused it (" + firstLine(e)
                            + "); change it, or use another table",
                    e);
        }
        if (isBroken(e)) {
            return new StoreUnavailableException(
                    cannot + "the server cannot be reached (" + firstLine(e)
                            + "); check that it is running, and the URL",
                    e);
        }
        return new StoreUnavailableException(cannot + firstLine(e) + "; try again", e);
    }

    static boolean has(SQLException failure, Set<String> codes) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof SQLException e
                    && (codes.contains(state(e)) || codes.contains(Integer.toString(e.getErrorCode())))) {
                return true;
            }
        }
        return false;
    }

    private static String state(SQLException e) {
        return e.getSQLState() == null ? "" : e.getSQLState();
    }

    static String firstLine(SQLException e) {
        String text = String.valueOf(e.getMessage());
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }
}
