package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Started;
import java.util.Optional;

/** The contract on MariaDB, a class for each of two storeys; {@link PostgresProcessContractTest} is the third's. */
abstract class MariaDbContract extends ServerStoreContract {
    @Started("--max-connections=300")
    private static MariaDbServer server;

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
