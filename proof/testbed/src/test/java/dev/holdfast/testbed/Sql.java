package dev.holdfast.testbed;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Asks a database over a connection of its own. */
final class Sql {
    private Sql() {}

    /** The first column of the first row as text, or nothing ("") for a statement without rows. */
    static String ask(String jdbcUrl, String statement) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl);
                Statement asked = connection.createStatement()) {
            if (!asked.execute(statement)) {
                return "";
            }
            ResultSet rows = asked.getResultSet();
            rows.next();
            return rows.getString(1);
        }
    }
}
