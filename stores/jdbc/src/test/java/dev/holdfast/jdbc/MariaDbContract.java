package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.OrSkip;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on MariaDB, a class for each of its storeys. */
abstract class MariaDbContract extends ServerStoreContract {
    private static MariaDbServer server;

    @BeforeAll
    static void startServer() {
        server = OrSkip.orSkip(() -> MariaDbServer.start("--max-connections=300"));
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
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
