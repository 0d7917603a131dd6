package dev.holdfast.jdbc;

import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How locks are kept on a database server.
 *
 * <pre>{@code
 * StoreFactory store = JdbcStores.on(dataSource, JdbcOptions.defaults().schema("locks").createTable(false));
 * }</pre>
 *
 * <p>In a URL the same are parameters: {@code holdfast.schema}, {@code holdfast.table}, {@code holdfast.createTable},
 * {@code holdfast.connections}.
 *
 * <p>Immutable; each method with an argument returns a changed copy.
 */
public final class JdbcOptions {
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,49}");
    private static final int MOST_CONNECTIONS = 64;
    private static final int CONNECTIONS = 4;

    private final Optional<String> schema;
    private final String table;
    private final int connections;
    private final boolean createTable;

    private JdbcOptions(Optional<String> schema, String table, int connections, boolean createTable) {
        check("a table's name", table);
        schema.ifPresent(name -> check("a schema's name", name));
        if (connections < 1 || connections > MOST_CONNECTIONS) {
            throw new IllegalArgumentException("holdfast.connections is 1 to " + MOST_CONNECTIONS);
        }
        this.schema = schema;
        this.table = table;
        this.connections = connections;
        this.createTable = createTable;
    }

    /** Table {@code holdfast_lock} in the connection's schema, created when missing; 4 connections. */
    public static JdbcOptions defaults() {
        return new JdbcOptions(Optional.empty(), "holdfast_lock", CONNECTIONS, true);
    }

    /** Where the table is; empty for the schema that the connection is in. */
    public Optional<String> schema() {
        return schema;
    }

    /**
     * The table in another schema (PostgreSQL, H2) or database (MariaDB, MySQL).
     *
     * @throws IllegalArgumentException if it is not letters, digits and underscores
     */
    public JdbcOptions schema(String name) {
        return new JdbcOptions(Optional.of(name), table, connections, createTable);
    }

    /** The table's name. */
    public String table() {
        return table;
    }

    /**
     * Another table.
     *
     * @throws IllegalArgumentException if it is not letters, digits and underscores, at most 50
     */
    public JdbcOptions table(String name) {
        return new JdbcOptions(schema, name, connections, createTable);
    }

    /**
     * How many connections do the work; one more waits for news where the database has such. All requests for a name go
     * through one of them.
     */
    public int connections() {
        return connections;
    }

    /**
     * Another number of connections.
     *
     * @throws IllegalArgumentException if it is not 1 to 64
     */
    public JdbcOptions connections(int number) {
        return new JdbcOptions(schema, table, number, createTable);
    }

    /** Whether the table is created when it is missing. */
    public boolean createTable() {
        return createTable;
    }

    /** Whether the table is created when it is missing; off, a store without its table is refused. */
    public JdbcOptions createTable(boolean create) {
        return new JdbcOptions(schema, table, connections, create);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JdbcOptions options
                && schema.equals(options.schema)
                && table.equals(options.table)
                && connections == options.connections
                && createTable == options.createTable;
    }

    @Override
    public int hashCode() {
        return Objects.hash(schema, table, connections, createTable);
    }

    @Override
    public String toString() {
        return "JdbcOptions[table=" + qualifiedTable() + ", connections=" + connections + ", createTable=" + createTable
                + "]";
    }

    /** As it is written in statements; no other text of a caller ever is. */
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
