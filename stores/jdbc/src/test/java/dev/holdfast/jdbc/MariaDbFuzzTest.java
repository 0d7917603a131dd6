package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.ServerProcess;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** Random histories on MariaDB. */
class MariaDbFuzzTest extends ServerFuzz {
    @AutoClose
    private MariaDbServer server;

    @BeforeAll
    void startServer() {
        server = OrSkip.orSkip(() -> MariaDbServer.start(environment(), "--max-connections=300"));
    }

    @Override
    ServerProcess server() {
        return server.process();
    }

    @Override
    String url(int port, int client) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/test?user=root";
    }
}
