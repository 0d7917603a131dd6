package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static dev.holdfast.testbed.Sql.ask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("thorough")
class EmptyDatabasesTest {
    @TempDir
    Path folder;

    private final AtomicInteger runs = new AtomicInteger();
    private final String kept = System.getProperty(Originals.KEPT, "");

    /** The databases that these programs make are for this test alone. */
    @BeforeEach
    void keepNothing() {
        System.clearProperty(Originals.KEPT);
    }

    @AfterEach
    void keepAgain() {
        if (!kept.isEmpty()) {
            System.setProperty(Originals.KEPT, kept);
        }
    }

    private ServerHome home(String name) throws IOException {
        return new ServerHome(Files.createDirectory(folder.resolve(name)), List.of(1));
    }

    private void make(ServerHome home) {
        runs.incrementAndGet();
        try {
            Files.createDirectory(EmptyDatabases.data(home));
            Files.writeString(EmptyDatabases.data(home).resolve("table"), "empty");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theProgramRunsOnceAndWhatOneServerWritesIsNotInTheNext() throws IOException {
        ServerHome first = home("first");
        ServerHome second = home("second");
        Path program = folder.resolve("program");
        EmptyDatabases.copyTo(first, program, this::make);
        Files.writeString(EmptyDatabases.data(first).resolve("table"), "full");
        EmptyDatabases.copyTo(second, program, this::make);

        assertThat(EmptyDatabases.data(second).resolve("table")).hasContent("empty");
        assertThat(runs).hasValue(1);
    }

    @Test
    void aProgramThatFailedRunsAgain() throws IOException {
        ServerHome home = home("home");
        Path program = folder.resolve("failing");
        assertThatThrownBy(() -> EmptyDatabases.copyTo(home, program, original -> {
                    throw new AssertionError("no room");
                }))
                .hasMessage("no room");

        EmptyDatabases.copyTo(home, program, this::make);
        assertThat(EmptyDatabases.data(home)).isNotEmptyDirectory();
    }

    @Test
    void serversOfOneJvmShareNoData() throws SQLException {
        try (PostgresServer one = orSkip(() -> PostgresServer.start());
                PostgresServer other = orSkip(() -> PostgresServer.start())) {
            ask(one.jdbcUrl(), "create table kept as select 7 as number");
            assertThat(ask(other.jdbcUrl(), "select to_regclass('kept') is null"))
                    .isEqualTo("t");
        }
        try (MariaDbServer one = orSkip(() -> MariaDbServer.start());
                MariaDbServer other = orSkip(() -> MariaDbServer.start())) {
            ask(one.jdbcUrl(), "create table kept as select 7 as number");
            assertThat(ask(other.jdbcUrl(), "select count(*) from information_schema.tables where table_name = 'kept'"))
                    .isEqualTo("0");
        }
    }
}
