package dev.holdfast.jdbc;

import dev.holdfast.spi.support.Secrets;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.util.Iterator;
import java.util.Optional;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Connections by URL, straight from the driver. Each is used by one thread for good, so there is nothing to pool. */
final class DriverConnections implements Connections {
    private final String jdbcUrl;
    private final Properties properties;
    private final Secrets secrets;

    /**
     * For a URL.
     *
     * @throws IllegalArgumentException if there is no driver for it
     */
    DriverConnections(ServerUrl url, Optional<String> password) {
        this.properties = ServerUrl.properties(
                url.dialect().driverProperties(TableOpener.ANSWER_SECONDS), password, url.jdbcUrl());
        this.jdbcUrl = reachable(url);
        this.secrets = UrlForm.secrets(jdbcUrl, password);
    }

    /** MariaDB's driver speaks to MySQL too, if it is allowed to. */
    private static String reachable(ServerUrl url) {
        String plain = url.jdbcUrl();
        if (!hasDriver(plain)) {
            registerDrivers();
        }
        String permitted = plain + (plain.indexOf('?') < 0 ? "?" : "&") + "permitMysqlScheme";
        if (!hasDriver(plain) && plain.startsWith("jdbc:mysql:") && hasDriver(permitted)) {
            return permitted;
        }
        try {
            DriverManager.getDriver(plain);
            return plain;
        } catch (SQLException e) {
            throw new IllegalArgumentException(
                    "there is no driver for " + url.dialect().title() + " on the class path, or the URL is not as it"
                            + " wants it: add " + url.dialect().driver() + "; a good URL is one of "
                            + ServerUrl.GOOD_URLS,
                    e);
        }
    }

    /**
     * The JDK loads drivers once in a process, for the application that asks first; those of an application that is
     * deployed later register themselves when they are loaded.
     */
    private static void registerDrivers() {
        Iterator<Driver> drivers = ServiceLoader.load(Driver.class, DriverConnections.class.getClassLoader())
                .iterator();
        boolean more = true;
        while (more) {
            try {
                more = drivers.hasNext() && drivers.next() != null;
            } catch (ServiceConfigurationError | LinkageError broken) {
                // another driver's trouble
            }
        }
    }

    private static boolean hasDriver(String url) {
        return DriverManager.drivers().anyMatch(driver -> accepts(driver, url));
    }

    private static boolean accepts(Driver driver, String url) {
        try {
            return driver.acceptsURL(url);
        } catch (SQLException e) {
            return false;
        }
    }

    @Override
    public Connection open() throws SQLException {
        try {
            return DriverManager.getConnection(jdbcUrl, properties);
        } catch (SQLException e) {
            throw secrets.hide(e) == e ? e : withoutSecrets(e);
        } catch (RuntimeException e) { // the driver of a URL that it cannot read
            throw new SQLException("the driver failed: " + secrets.hide(e.toString()), secrets.hide(e));
        }
    }

    /** A failure with the same meaning for {@link SqlErrors}. */
    private SQLException withoutSecrets(SQLException e) {
        String message = secrets.hide(String.valueOf(e.getMessage()));
        boolean broken = e instanceof SQLRecoverableException || e instanceof SQLNonTransientConnectionException;
        return broken
                ? new SQLNonTransientConnectionException(message, e.getSQLState(), e.getErrorCode(), secrets.hide(e))
                : new SQLException(message, e.getSQLState(), e.getErrorCode(), secrets.hide(e));
    }
}
