package dev.holdfast.sqlite;

/**
 * What a lock file needs, where no application may create it: a script for the {@code sqlite3} shell.
 *
 * <pre>{@code
 * System.out.print(SqliteSchema.script());        // as 'holdfast schema sqlite' does
 * }</pre>
 *
 * <p>Running it is optional: where the store may, it creates what is missing itself. Thread-safe.
 */
public final class SqliteSchema {
    /** The id of no boot: the first process that opens the file enters the present one. */
    private static final String NEVER_BOOTED = "''";

    private static final String HEAD = """
            -- Holdfast on SQLite, layout %d. Nobody has to run this: a file that is missing is created when it is
            -- first used, for its user alone. To prepare one that several users share:
            --
            --   install -d -g GROUP -m 2770 /var/lib/holdfast
            --   (umask 007; holdfast schema sqlite | sqlite3 /var/lib/holdfast/locks.db)
            --
            -- Rights: every user reads and writes the file, and may create files in its directory (locks.db-wal and
            -- locks.db-shm lie beside it). Who may read the file sees the names, hosts, pids and labels of all holders.
            -- Place: a local disk. A file system that is not known to be local is refused.
            -- Connections: one per process, one more while a lock is waited for; no server, no password.
            -- Use: sqlite:/var/lib/holdfast/locks.db; no other tables in that file.

            """;

    private SqliteSchema() {}

    /** The table as SQL, with the rights and the connections that the store needs as comments. */
    public static String script() {
        String firstRow =
                "INSERT INTO holdfast_meta VALUES (1, " + SqliteSql.LAYOUT + ", " + NEVER_BOOTED + ", 0, 0, 0)";
        return HEAD.formatted(SqliteSql.LAYOUT)
                + String.join(
                        ";\n\n",
                        "PRAGMA journal_mode = WAL",
                        "BEGIN IMMEDIATE",
                        SqliteSql.CREATE_META,
                        SqliteSql.CREATE_LOCK,
                        SqliteSql.CREATE_CLAIM,
                        firstRow,
                        "COMMIT;\n");
    }
}
