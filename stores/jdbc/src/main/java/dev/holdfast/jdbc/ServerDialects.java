package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** The servers that are known. */
final class ServerDialects {
    private static final List<ServerDialect> ALL =
            List.of(new PostgresDialect(), new MariaDbDialect(), new H2Dialect());

    private ServerDialects() {}

    static List<ServerDialect> all() {
        return ALL;
    }

    /** The one of a connection, by what its driver says. */
    static ServerDialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        String lower = product.toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(dialect -> dialect.names().stream().anyMatch(lower::contains))
                .findFirst()
                .orElseThrow(() -> new StoreRefusedException(
                        "no locks can be kept in " + product + "; supported: PostgreSQL, MariaDB, MySQL, H2"));
    }
}
