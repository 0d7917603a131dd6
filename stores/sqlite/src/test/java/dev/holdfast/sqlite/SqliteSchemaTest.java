package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the one who looks after the machine is given to run. */
class SqliteSchemaTest {
    @TempDir
    Path folder;

    @Test
    void aFilePreparedByTheScriptKeepsLocksAndIsTheOneThatTheStoreWouldMake() throws SQLException {
        try (Rig rig = new Rig(folder)) {
            runScript(rig.file);
            List<String> prepared = rig.sql("SELECT sql FROM sqlite_schema ORDER BY name");

            Rig.hold(rig.open(), "order:42");

            assertThat(rig.sql("SELECT sql FROM sqlite_schema ORDER BY name")).isEqualTo(prepared);
            assertThat(rig.sql("PRAGMA journal_mode")).containsExactly("wal");
            try (Rig own = new Rig(folder.resolve("own"))) {
                own.open();
                assertThat(own.sql("SELECT sql FROM sqlite_schema ORDER BY name"))
                        .isEqualTo(prepared);
            }
        }
    }

    private static void runScript(Path file) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            for (String part : SqliteSchema.script().split(";\\s*\\n")) {
                statement.execute(part);
            }
        }
    }

    @Test
    void theScriptTellsTablesRightsAndConnections() {
        assertThat(SqliteSchema.script())
                .contains("CREATE TABLE holdfast_lock", "-- Rights: ", "-- Connections: ")
                .endsWith(";\n");
    }
}
