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
 * {@code holdfast.connections}, {@code holdfast.unlogged}.
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
    private final boolean unlogged;

    private JdbcOptions(Optional<String> schema, String table, int connections, boolean createTable, boolean unlogged) {
        check("a table's name", table);
        schema.ifPresent(name -> check("a schema's name", name));
        if (connections < 1 || connections > MOST_CONNECTIONS) {
            throw new IllegalArgumentException("holdfast.connections is 1 to " + MOST_CONNECTIONS);
        }
        this.schema = schema;
        this.table = table;
        this.connections = connections;
        this.createTable = createTable;
        this.unlogged = unlogged;
    }

    /** Table {@code holdfast_lock} in the connection's schema, created when missing; 4 connections. */
    public static JdbcOptions defaults() {
        return new JdbcOptions(Optional.empty(), "holdfast_lock", CONNECTIONS, true, false);
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
        return new JdbcOptions(Optional.of(name), table, connections, createTable, unlogged);
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
        return new JdbcOptions(schema, name, connections, createTable, unlogged);
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
        return new JdbcOptions(schema, table, number, createTable, unlogged);
    }

    /** Whether the table is created when it is missing. */
    public boolean createTable() {
        return createTable;
    }

    /** Whether the table is created when it is missing; off, a store without its table is refused. */
    public JdbcOptions createTable(boolean create) {
        return new JdbcOptions(schema, table, connections, create, unlogged);
    }

    /** Whether the table is an UNLOGGED table of PostgreSQL. */
    public boolean unlogged() {
        return unlogged;
    }

    /**
     * Whether the table is an UNLOGGED table, which only PostgreSQL has; off unless asked for. Then no lock, renewal or
     * release waits for the disk.
     *
     * <p>The price: when the server or one of its backends crashes, or a replica is promoted, all holds are lost, and nothing
     * is granted until the longest lease that was in use has passed. Only the primary can read the locks. All clients of a
     * table use the same setting: others are refused. An old primary that still runs beside a promoted one goes on granting,
     * also with a synchronous standby; stop it before the promotion.
     */
    public JdbcOptions unlogged(boolean on) {
        return new JdbcOptions(schema, table, connections, createTable, on);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JdbcOptions options
                && schema.equals(options.schema)
                && table.equals(options.table)
                && connections == options.connections
                && createTable == options.createTable
                && unlogged == options.unlogged;
    }

    @Override
    public int hashCode() {
        return Objects.hash(schema, table, connections, createTable, unlogged);
    }

    @Override
    public String toString() {
        return "JdbcOptions[table=" + qualifiedTable() + ", connections=" + connections + ", createTable=" + createTable
                + ", unlogged=" + unlogged + "]";
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
