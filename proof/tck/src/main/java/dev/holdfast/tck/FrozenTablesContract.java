package dev.holdfast.tck;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** The same for a store in tables: the statements that create them, and an {@code INSERT} for each row. */
public abstract class FrozenTablesContract extends FrozenLeasesContract {
    /** A connection without the store, which is closed after each use. */
    protected abstract Connection connect() throws SQLException;

    /** The statements by which the present version creates its tables. */
    protected abstract List<String> creation() throws SQLException;

    /** All tables. */
    protected abstract List<String> tables();

    @Override
    protected void run(String command) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(command);
        }
    }

    @Override
    protected void empty() throws SQLException {
        for (String table : tables()) {
            run("DROP TABLE IF EXISTS " + table);
        }
    }

    @Override
    protected List<String> stored() throws SQLException {
        List<String> stored = new ArrayList<>();
        for (String statement : creation()) {
            stored.add(oneLine(statement));
        }
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String table : tables()) {
                stored.addAll(rows(statement, table));
            }
        }
        return stored;
    }

    /** The rows of a table, as the statements that insert them. */
    public static List<String> rows(Statement statement, String table) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery("SELECT * FROM " + table)) {
            while (row.next()) {
                rows.add("INSERT INTO " + table + " VALUES " + values(row));
            }
        }
        return rows;
    }

    /** As it is compared. */
    public static String oneLine(String statement) {
        return statement.replaceAll("\\s+", " ");
    }

    private static String values(ResultSet row) throws SQLException {
        StringJoiner values = new StringJoiner(", ", "(", ")");
        for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
            Object value = row.getObject(column);
            if (value instanceof byte[] bytes) {
                values.add("'" + new String(bytes, UTF_8) + "'");
            } else {
                values.add(value == null || value instanceof Number ? "" + value : "'" + row.getString(column) + "'");
            }
        }
        return values.toString();
    }
}
