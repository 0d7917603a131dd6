package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.convert.DurationStyle;

/** What a sale creates in a database, and what it leaves alone. */
class StorageTest {
    @TempDir
    Path folder;

    private String database;

    @BeforeEach
    void nameIt() {
        database = "jdbc:sqlite:" + folder.resolve("shop.db");
    }

    @ParameterizedTest
    @CsvSource({
        "zk://127.0.0.1?session=20s, 24s",
        "zk://127.0.0.1?tick=2s&session=500ms&timeout=1s, 4500ms",
        "zk://127.0.0.1, 10s"
    })
    void aServerIsStoppedForLongerThanTheSessionOfZooKeeper(String store, String pause) {
        assertThat(Storage.pause(store)).isEqualTo(DurationStyle.SIMPLE.parse(pause));
    }

    @ParameterizedTest
    @ValueSource(strings = {"flashsale_sale", "flashsale_order", "flashsale_fence", "occupied", "leased"})
    void aTableThatWasThereIsRefusedAndKept(String table) throws Exception {
        ask("CREATE TABLE " + table + " (sale TEXT, resource TEXT)");
        ask("INSERT INTO " + table + " (sale, resource) VALUES ('1', 'ours')");

        try (Storage storage = Storage.on(database)) {
            assertThatThrownBy(storage::createTables)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("the database already has a table " + table + ":");
        }

        assertThat(tables()).containsExactly(table);
        assertThat(ask("SELECT resource FROM " + table)).containsExactly("ours");
    }

    @Test
    void aSecondSaleOnADatabaseIsRefusedAndTheFirstGoesOn() throws Exception {
        try (Storage first = Storage.on(database)) {
            first.createTables();
            first.shop().open("1", "none", 20, 0);

            try (Storage second = Storage.on(database)) {
                assertThatThrownBy(second::createTables).hasMessageContaining("another sale is running on it");
            }

            assertThat(first.shop().find("1")).isPresent();
            first.shop().open("1", "none", 30, 0);
        }
    }

    @Test
    void anEndedSaleLeavesNoTable() throws Exception {
        try (Storage storage = Storage.on(database)) {
            storage.createTables();
            assertThat(tables()).contains("flashsale_sale", "flashsale_fence", "occupied", "leased");
        }

        assertThat(tables()).isEmpty();
    }

    @Test
    @Tag("thorough")
    void aStartThatGoesOnAfterTheEndCreatesNothing() throws Exception {
        Storage storage = Storage.on(database);
        storage.close();

        assertThatThrownBy(storage::createTables).hasMessage("the sale has ended");
        assertThat(tables()).isEmpty();
    }

    private List<String> tables() throws SQLException {
        return ask("SELECT name FROM sqlite_master WHERE type = 'table'");
    }

    private List<String> ask(String sql) throws SQLException {
        List<String> answers = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(database);
                Statement statement = connection.createStatement()) {
            if (statement.execute(sql)) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        answers.add(rows.getString(1));
                    }
                }
            }
        }
        return answers;
    }
}
