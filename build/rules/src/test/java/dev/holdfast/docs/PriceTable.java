package dev.holdfast.docs;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.h2.jdbcx.JdbcDataSource;

/** Prices in a database, each with the token of whoever was there last: the truth that a cache shows. */
final class PriceTable implements AutoCloseable {
    // @formatter:off
    // snippet fencedTable
    static final String COME = "UPDATE price SET fence = GREATEST(fence, ?) WHERE item = ?";
    static final String READ = "SELECT amount FROM price WHERE item = ?";
    static final String WRITE = "UPDATE price SET amount = ?, fence = ? WHERE item = ? AND fence <= ?";
    // end
    // @formatter:on

    private final Connection connection;

    PriceTable() {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:");
        try {
            connection = database.getConnection();
            connection
                    .createStatement()
                    .execute("CREATE TABLE price(item INT PRIMARY KEY, amount INT NOT NULL, fence BIGINT NOT NULL)");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    void add(int item, int amount) {
        change("INSERT INTO price VALUES (?, ?, 0)", item, amount);
    }

    /** Shuts the door to writers before this reader, and reads. */
    int read(int item, long reader) {
        change(COME, reader, item);
        return amount(item);
    }

    /** Whether it was written: not if somebody was there who came after this writer. */
    boolean write(int item, int amount, long writer) {
        return change(WRITE, amount, writer, item, writer) == 1;
    }

    int amount(int item) {
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            statement.setInt(1, item);
            ResultSet row = statement.executeQuery();
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private int change(String sql, Object... values) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
