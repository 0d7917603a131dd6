package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Started;
import org.junit.jupiter.api.Tag;

/** The layout of 0.1.0 on MariaDB. For {@code ./verify --all}: everyday, H2 keeps the same columns. */
@Tag("thorough")
class MariaDbFrozenLayoutTest extends FrozenRows {
    @Started
    private static MariaDbServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    ServerDialect dialect() {
        return new MariaDbDialect();
    }
}
