package dev.holdfast.jdbc;

import java.util.ArrayList;
import java.util.List;

/** A table of locks on a server, prepared by hand: for the server's own shell. */
record ServerSchemaPage(ServerDialect dialect) {
    private static final String HEAD = """
            -- Holdfast on %1$s, layout %2$d. Nobody has to run this where the application may create tables: a table that
            -- is missing is created when it is first used (holdfast.createTable=false switches that off).
            -- To run it again does no harm, and makes what a newer version needs besides.
            -- Another name or schema: holdfast.table=NAME and holdfast.schema=NAME in the URL, or JdbcOptions.
            --
            -- Rights: SELECT, INSERT, UPDATE and DELETE on these tables. Only 'once' needs the second, only locks in an
            --   application's own transactions the third, only mode=session the fourth.
            %3$s
            -- Connections: per client 1 for a start, up to 4 when many names are used at once (holdfast.connections), and
            --   %4$s
            -- Load: to acquire a free lock 1 UPDATE by primary key, to release it 1; a held lock that is tried is only
            --   read. Renewals: 1 UPDATE for up to 128 holds every third of a lease. Row locks last for one statement.
            -- Rows: one for each name, some 200 bytes; one unused for an hour is removed, by one client every ten minutes.

            """;

    /** The names by which people call the database, in lower case; the first is its usual one. */
    List<String> names() {
        return dialect.names();
    }

    /** The table, the rights that an account needs, what a connection needs. Ends with a line break. */
    String script(JdbcOptions options) {
        String table = dialect.quoted(options.qualifiedTable());
        List<String> statements = new ArrayList<>();
        statements.addAll(dialect.createTable(table, options));
        statements.add(TableOpener.markRowByHand(dialect, table));
        statements.addAll(dialect.createRecords(table + ServerRecords.SUFFIX));
        statements.add(dialect.createRows(table + LockedRows.SUFFIX));
        dialect.sessions().ifPresent(each -> statements.add(each.createTable(table + SessionOpener.SUFFIX)));
        return HEAD.formatted(
                        dialect.title(),
                        RowSql.LAYOUT,
                        dialect.grants(table) + "\n"
                                + (options.unlogged() ? dialect.grants(table + UnloggedRows.SUFFIX) + "\n" : "")
                                + dialect.grants(table + ServerRecords.SUFFIX) + "\n"
                                + dialect.grants(table + LockedRows.SUFFIX)
                                + (dialect.sessions().isPresent()
                                        ? "\n" + dialect.grants(table + SessionOpener.SUFFIX)
                                        : ""),
                        dialect.waitingConnections())
                + String.join(";\n\n", statements)
                + ";\n";
    }
}
