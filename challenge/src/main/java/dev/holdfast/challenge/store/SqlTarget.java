package dev.holdfast.challenge.store;

import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One database server that forces every commit to disk, as it comes.
 *
 * @param server its process
 * @param settings what it is, in one line
 * @param url its address, as users of Holdfast write it
 */
record SqlTarget(LocalServer server, String settings, String url) implements Target {
    private static final String CONNECTIONS = "max_connections=500";

    static SqlTarget mariaDb() {
        MariaDbServer server = MariaDbServer.start("--" + CONNECTIONS);
        return new SqlTarget(server, "MariaDB, as it comes", server.jdbcUrl());
    }

    static SqlTarget postgres() {
        PostgresServer server = PostgresServer.start("-c", CONNECTIONS);
        return new SqlTarget(server, "PostgreSQL, as it comes", server.jdbcUrl());
    }

    @Override
    public OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public void close() {
        server.close();
    }
}
