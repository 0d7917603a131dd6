package dev.holdfast.bench.peer;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The tables that the libraries want their users to make. */
final class Tables {
    private Tables() {}

    /** Creates a table, its times of the type that the database calls so. */
    static void create(DataSource database, String statement) {
        try (Connection connection = database.getConnection()) {
            create(connection, statement);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot make a table", e);
        }
    }

    static void create(Connection connection, String statement) throws SQLException {
        boolean postgres = connection.getMetaData().getURL().startsWith("jdbc:postgresql:");
        try (Statement creation = connection.createStatement()) {
            if (postgres) {
                // "if not exists" does not keep two of them from colliding in the catalogue
                creation.execute("select pg_advisory_lock(1)");
            }
            creation.execute(statement.formatted(postgres ? "timestamp(6)" : "datetime(6)"));
            if (postgres) {
                creation.execute("select pg_advisory_unlock(1)");
            }
        }
    }
}
