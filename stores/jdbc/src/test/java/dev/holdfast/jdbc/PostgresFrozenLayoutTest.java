package dev.holdfast.jdbc;

import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The layout of 0.1.0 on PostgreSQL. */
class PostgresFrozenLayoutTest extends FrozenRows {
    @AutoClose
    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = OrSkip.orSkip(() -> PostgresServer.start());
    }

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    ServerDialect dialect() {
        return new PostgresDialect();
    }
}
