package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.OrSkip;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The contract on MariaDB, a class for each of its storeys. */
abstract class MariaDbContract extends ServerStoreContract {
    @AutoClose
    private static MariaDbServer server;

    @BeforeAll
    static void startServer() {
        server = OrSkip.orSkip(() -> MariaDbServer.start("--max-connections=300"));
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
