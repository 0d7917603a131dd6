package dev.holdfast.jdbc;

import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.util.Optional;

/** The contract on PostgreSQL, a class for each of its storeys. */
abstract class PostgresContract extends ServerStoreContract {
    @Started({"-c", "max_connections=300"})
    private static PostgresServer server;

    @Override
    protected String jdbcUrl() {
        return server.jdbcUrl();
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }
}
