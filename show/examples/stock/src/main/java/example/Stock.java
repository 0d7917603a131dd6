package example;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.jdbc.JdbcFence;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Pieces in one row of a table, and three ways to sell them. */
class Stock {
    private static final JdbcFence FENCE = JdbcFence.inTable("fence");

    static void fill(Connection database, int pieces) throws SQLException {
        FENCE.create(database);
        try (Statement statement = database.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS stock (item INT PRIMARY KEY, pieces INT NOT NULL)");
            statement.execute("INSERT INTO stock VALUES (1, " + pieces
                    + ") ON CONFLICT (item) DO UPDATE SET pieces = EXCLUDED.pieces");
        }
    }

    /** Wrong: between the read and the write, others read the same number. */
    static boolean readThenWrite(Connection database, int wanted) throws Exception {
        int pieces = read(database);
        if (pieces < wanted) {
            return false;
        }
        charge();
        write(database, pieces - wanted);
        database.commit();
        return true;
    }

    /** Right, and without a lock: the database reads and writes in one step. */
    static boolean oneStatement(Connection database, int wanted) throws SQLException {
        try (PreparedStatement update =
                database.prepareStatement("UPDATE stock SET pieces = pieces - ? WHERE item = 1 AND pieces >= ?")) {
            update.setInt(1, wanted);
            update.setInt(2, wanted);
            boolean sold = update.executeUpdate() == 1;
            database.commit();
            return sold;
        }
    }

    /** Right, with work in between that no transaction should wait for; the fence refuses a holder that is too late. */
    static boolean underALock(LockClient client, Connection database, int wanted) throws Exception {
        try (Hold hold = client.lock("item:1").acquire()) {
            int pieces = read(database);
            if (pieces < wanted) {
                return false;
            }
            charge();
            FENCE.check(database, "item:1", hold.token());
            write(database, pieces - wanted);
            database.commit();
            return true;
        }
    }

    /** The customer's bank, which takes its time. */
    private static void charge() throws InterruptedException {
        Thread.sleep(2);
    }

    private static int read(Connection database) throws SQLException {
        try (Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery("SELECT pieces FROM stock WHERE item = 1")) {
            row.next();
            int pieces = row.getInt(1);
            database.commit();
            return pieces;
        }
    }

    private static void write(Connection database, int pieces) throws SQLException {
        try (PreparedStatement update = database.prepareStatement("UPDATE stock SET pieces = ? WHERE item = 1")) {
            update.setInt(1, pieces);
            update.executeUpdate();
        }
    }
}
