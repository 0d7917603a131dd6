package dev.holdfast.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** What a test does to a database, or asks it, on a connection of its own. */
final class Sql {
    private Sql() {}

    static void run(String url, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** The text that a query finds. */
    static String text(String url, String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            return SqlSession.only(connection, query, row -> row.getString(1));
        }
    }

    /** The number that a query finds. */
    static long number(String url, String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            return SqlSession.only(connection, query, row -> row.getLong(1));
        }
    }
}
