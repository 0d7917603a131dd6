package dev.holdfast.jdbc;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How locks are kept on a database server.
 *
 * <pre>{@code
 * Store store = JdbcStores.on(dataSource, JdbcOptions.defaults().schema("locks").createTable(false));
 * }</pre>
 *
 * <p>In a URL the same are parameters: {@code holdfast.schema}, {@code holdfast.table}, {@code holdfast.createTable},
 * {@code holdfast.connections}.
 *
 * @param schema where the table is; empty for the one that the connection is in
 * @param table the table's name; letters, digits and underscores, at most 50, as {@code holdfast_lock}
 * @param connections how many connections do the work, 1 to 64; one more waits for news where the database has such. All
 *     requests for a name go through one of them
 * @param createTable whether the table is created when it is missing
 */
public record JdbcOptions(Optional<String> schema, String table, int connections, boolean createTable) {
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,49}");
    private static final int MOST_CONNECTIONS = 64;
    private static final int CONNECTIONS = 4;

    public JdbcOptions {
        check("a table's name", table);
        schema.ifPresent(name -> check("a schema's name", name));
        if (connections < 1 || connections > MOST_CONNECTIONS) {
            throw new IllegalArgumentException("holdfast.connections is 1 to " + MOST_CONNECTIONS);
        }
    }

    /** Table {@code holdfast_lock} in the connection's schema, created when missing; 4 connections. */
    public static JdbcOptions defaults() {
        return new JdbcOptions(Optional.empty(), "holdfast_lock", CONNECTIONS, true);
    }

    /**
     * The table in another schema (PostgreSQL, H2) or database (MariaDB, MySQL).
     *
     * @throws IllegalArgumentException if it is not letters, digits and underscores
     */
    public JdbcOptions schema(String name) {
        return new JdbcOptions(Optional.of(name), table, connections, createTable);
    }

    /**
     * Another table.
     *
     * @throws IllegalArgumentException if it is not letters, digits and underscores
     */
    public JdbcOptions table(String name) {
        return new JdbcOptions(schema, name, connections, createTable);
    }

    /**
     * Another number of connections.
     *
     * @throws IllegalArgumentException if it is not 1 to 64
     */
    public JdbcOptions connections(int number) {
        return new JdbcOptions(schema, table, number, createTable);
    }

    /** Whether the table is created when it is missing; off, a store without its table is refused. */
    public JdbcOptions createTable(boolean create) {
        return new JdbcOptions(schema, table, connections, create);
    }

    /** As it stands in statements; nothing else of a caller's text ever does. */
    String qualifiedTable() {
        return schema.map(name -> name + ".").orElse("") + table;
    }

    private static void check(String what, String name) {
        if (!IDENTIFIER.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    what + " is 1 to 50 letters, digits and underscores, and does not begin with a digit");
        }
    }
}
