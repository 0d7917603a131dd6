package dev.holdfast.jdbc;

import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;

/** The layout of 0.1.0 on PostgreSQL. */
class PostgresFrozenLayoutTest extends FrozenRows {
    @Started
    private static PostgresServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    ServerDialect dialect() {
        return new PostgresDialect();
    }
}
