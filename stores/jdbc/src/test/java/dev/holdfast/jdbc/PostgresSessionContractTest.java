package dev.holdfast.jdbc;

import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Session locks of PostgreSQL: what the store itself does. The engine is proved over grants of a session by ZooKeeper; its
 * cases, and those between processes, are not run here. What an everyday run needs to know of them is in {@link
 * SessionLossTest}, {@link SessionWaitsTest} and {@link SessionRequestsTest}.
 */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class PostgresSessionContractTest extends SessionContract {
    @AutoClose
    private static PostgresServer server;

    @BeforeAll
    static void startServer() {
        server = OrSkip.orSkip(() -> PostgresServer.start("-c", "max_connections=300"));
    }

    @Override
    protected String serverUrl() {
        return server.jdbcUrl();
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }
}
