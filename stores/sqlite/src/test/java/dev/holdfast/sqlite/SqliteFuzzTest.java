package dev.holdfast.sqlite;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import org.junit.jupiter.api.io.TempDir;

/** Random histories on a file. */
class SqliteFuzzTest extends StoreFuzz {
    @TempDir
    Path folder;

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new SqliteStoreProvider().open("sqlite:" + file(), context);
    }

    private Path file() {
        return folder.resolve("locks.db");
    }

    @Override
    protected boolean isExtendable() {
        return true;
    }

    /** In a file no late copy of a claim can come, so that a claim asked again may be numbered anew. */
    @Override
    protected boolean repeatsKeepNumbers() {
        return false;
    }

    /** One that was made a reader would be refused. */
    @Override
    protected boolean repeatsChanged() {
        return false;
    }

    @Override
    protected Set<String> racesOutOfReach() {
        return Set.of("a repeated claim keeps its number");
    }

    @Override
    protected Optional<String> fingerprint(String prefix) throws SQLException {
        return Optional.of(rows("holdfast_lock", prefix) + rows("holdfast_claim", prefix));
    }

    private String rows(String table, String prefix) throws SQLException {
        StringJoiner rows = new StringJoiner("\n    ");
        try (Connection reader = DriverManager.getConnection("jdbc:sqlite:" + file());
                PreparedStatement statement = reader.prepareStatement(
                        "SELECT * FROM " + table + " WHERE name >= ? AND name < ? ORDER BY 1, 2")) {
            statement.setString(1, prefix);
            statement.setString(2, prefix + "~");
            ResultSet found = statement.executeQuery();
            while (found.next()) {
                StringJoiner row = new StringJoiner(" ");
                for (int column = 1; column <= found.getMetaData().getColumnCount(); column++) {
                    row.add(found.getString(column));
                }
                rows.add(row.toString());
            }
        }
        return rows.toString();
    }

    @Override
    protected List<String> regressions() {
        return List.of(
                "1: 2 try 0 3 P2/2 2000; 0 downgrade 0 3 - 300",
                "1: 0 try 0 2 X 100; 0 downgrade 0 2 - 600; 0 repeat 0 2 - 150",
                "3: 1 wait 0 0 X 600; 0 downgrade 0 0 - 0; 2 revoke 0 0 - 0");
    }
}
