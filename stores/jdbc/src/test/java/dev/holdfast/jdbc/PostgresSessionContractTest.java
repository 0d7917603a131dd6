package dev.holdfast.jdbc;

import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.util.Optional;
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
    @Started({"-c", "max_connections=300"})
    private static PostgresServer server;

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
