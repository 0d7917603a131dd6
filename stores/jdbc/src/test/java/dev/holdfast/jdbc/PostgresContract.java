package dev.holdfast.jdbc;

import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The contract on PostgreSQL, a class for each of its storeys. */
abstract class PostgresContract extends ServerStoreContract {
    @AutoClose
    private static PostgresServer server;

    @BeforeAll
    static void startServer() {
        server = OrSkip.orSkip(() -> PostgresServer.start("-c", "max_connections=300"));
    }

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
