package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Started;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** Session locks of MariaDB. What an everyday run needs to know of them is in {@link SessionLossTest}. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-proved-elsewhere")
@Tag("thorough")
class MariaDbSessionContractTest extends SessionContract {
    @Started("--max-connections=300")
    private static MariaDbServer server;

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
