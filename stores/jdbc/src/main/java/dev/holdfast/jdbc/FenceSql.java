package dev.holdfast.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/**
 * What the statements of a {@link JdbcFence} are on each database.
 *
 * @param create makes the table unless it is there; names of resources are compared character by character
 * @param raise raises the token unless it is higher already: its token, its name, its token
 * @param add adds a resource that is new: its name, its token; changes nothing where it is known
 * @param read the token of a resource, as it is after the last commit of others
 * @param present the SQL state by which {@code add} says that the resource is known, or empty where it says nothing
 * @param bytes whether a resource is kept as the bytes of its UTF-8
 */
record FenceSql(String create, String raise, String add, String read, String present, boolean bytes) {
    private static final List<String> MARIADB = List.of("mariadb", "mysql");
    private static final String POSTGRESQL = "postgresql";
    private static final String H2 = "h2";
    private static final String SQLITE = "sqlite";

    /** The column of MariaDB and MySQL that each check raises. */
    static final String CHECKS = "checks BIGINT NOT NULL DEFAULT 0";

    static FenceSql of(Connection connection, String table) throws SQLException {
        return of(connection.getMetaData().getDatabaseProductName(), table);
    }

    static FenceSql of(String database, String plain) {
        String name = database.toLowerCase(Locale.ROOT);
        boolean postgres = name.contains(POSTGRESQL) || name.equals("postgres");
        String table = postgres ? new PostgresDialect().quoted(plain) : plain;
        String raise = "UPDATE " + table + " SET token = ?%s WHERE resource = ? AND token <= ?";
        String insert = "INSERT INTO " + table + " (resource, token) VALUES (?, ?)";
        String of = " FROM " + table + " WHERE resource = ?";
        String read = "SELECT token" + of;
        if (MARIADB.stream().anyMatch(name::contains)) {
            // MariaDB and MySQL share no collation that distinguishes trailing spaces. They do not write a row that
            // stays
            // as it is, and several primaries certify only what is written: so each check raises a counter.
            return new FenceSql(
                    create(table, "VARBINARY(1020)", ", " + CHECKS) + " ENGINE = InnoDB",
                    raise.formatted(", checks = checks + 1"),
                    insert,
                    read + " FOR UPDATE",
                    "23000",
                    true);
        }
        if (postgres) {
            return new FenceSql(
                    create(table, "VARCHAR(255) COLLATE \"C\"", ""),
                    raise.formatted(""),
                    insert + " ON CONFLICT (resource) DO NOTHING", // an error would end the caller's transaction
                    read + " FOR UPDATE",
                    "",
                    false);
        }
        if (name.contains(H2)) {
            return new FenceSql(
                    create(table, "VARCHAR(255)", ""),
                    raise.formatted(""),
                    insert,
                    read + " FOR UPDATE",
                    "23505",
                    false);
        }
        if (name.contains(SQLITE)) {
            return new FenceSql(
                    create(table, "TEXT", ""),
                    raise.formatted("") + " AND typeof(token) = 'integer'", // a column takes values of any type
                    insert + " ON CONFLICT (resource) DO NOTHING",
                    "SELECT CASE typeof(token) WHEN 'integer' THEN token END" + of,
                    "",
                    false);
        }
        throw new IllegalArgumentException(
                "no fence is known for the database " + database + "; known: PostgreSQL, MariaDB, MySQL, H2, SQLite");
    }

    private static String create(String table, String text, String more) {
        return "CREATE TABLE IF NOT EXISTS " + table + " (resource " + text
                + " NOT NULL PRIMARY KEY, token BIGINT NOT NULL" + more + ")";
    }

    /** Fills a resource into a statement. */
    void setResource(PreparedStatement statement, int at, String resource) throws SQLException {
        if (bytes) {
            statement.setBytes(at, resource.getBytes(UTF_8));
        } else {
            statement.setString(at, resource);
        }
    }

    boolean saysPresent(SQLException failure) {
        return !present.isEmpty() && present.equals(failure.getSQLState());
    }
}
