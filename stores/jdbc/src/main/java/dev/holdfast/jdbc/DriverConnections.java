package dev.holdfast.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Properties;

/** Connections by URL, straight from the driver. Each is used by one thread for good, so there is nothing to pool. */
final class DriverConnections implements Connections {
    private final ServerUrl url;
    private final Properties properties;

    /**
     * For a URL.
     *
     * @throws IllegalArgumentException if there is no driver for it
     */
    DriverConnections(ServerUrl url, Optional<String> password) {
        this.url = url;
        this.properties =
                ServerUrl.properties(url.dialect().driverProperties(RowTables.ANSWER_SECONDS), password, url.jdbcUrl());
        try {
            DriverManager.getDriver(url.jdbcUrl());
        } catch (SQLException e) {
            throw new IllegalArgumentException(
                    "there is no driver for " + url.dialect().title() + " on the class path, or the URL is not as it"
                            + " wants it: add " + url.dialect().driver() + "; a good URL is one of "
                            + ServerUrl.GOOD_URLS,
                    e);
        }
    }

    @Override
    public Connection open() throws SQLException {
        return DriverManager.getConnection(url.jdbcUrl(), properties);
    }
}
