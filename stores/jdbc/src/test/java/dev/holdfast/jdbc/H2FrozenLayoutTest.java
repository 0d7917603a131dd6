package dev.holdfast.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The layout of 0.1.0 on H2, in a file. */
class H2FrozenLayoutTest extends FrozenRows {
    @TempDir
    static Path folder;

    private static Connection keepsItOpen;

    @BeforeAll
    static void open() throws SQLException {
        keepsItOpen = DriverManager.getConnection("jdbc:h2:" + folder.resolve("locks"));
    }

    @AfterAll
    static void close() throws SQLException {
        keepsItOpen.close();
    }

    @Override
    protected String url() {
        return "jdbc:h2:" + folder.resolve("locks");
    }

    @Override
    ServerDialect dialect() {
        return new H2Dialect();
    }
}
