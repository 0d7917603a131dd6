package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.OrSkip;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Session locks of MariaDB. What an everyday run needs to know of them is in {@link SessionLossTest}. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("values-proved-elsewhere")
@Tag("thorough")
class MariaDbSessionContractTest extends SessionContract {
    @AutoClose
    private static MariaDbServer server;

    @BeforeAll
    static void startServer() {
        server = OrSkip.orSkip(() -> MariaDbServer.start("--max-connections=300"));
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
