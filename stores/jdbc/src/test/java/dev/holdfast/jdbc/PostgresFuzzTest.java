package dev.holdfast.jdbc;

import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** Random histories on PostgreSQL. */
class PostgresFuzzTest extends ServerFuzz {
    @AutoClose
    private PostgresServer server;

    @BeforeAll
    void startServer() {
        server = OrSkip.orSkip(() -> PostgresServer.start(environment(), "-c", "max_connections=300"));
    }

    @Override
    ServerProcess server() {
        return server.process();
    }

    /** A claim that waits to be told asks by itself every four seconds, and the answer to that may take four more. */
    @Override
    protected Duration wordOfAnOutage() {
        return Duration.ofSeconds(9);
    }

    /** A release may be forgotten: its lock is then held until the lease ends. PostgresDurabilityTest shows the rest. */
    @Override
    protected void keepReleases() throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("CHECKPOINT");
        }
    }

    @Override
    String url(int port, int client) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
    }

    @Override
    protected List<String> regressions() {
        return List.of(
                "1: 0 try 0 0 S 2500; 0 renew 0 0 - 6000; 0 crash 0 0 - 0; 0 pass 0 0 - 2000; 1 try 0 1 X 1000",
                "1: 1 wait 0 2 P1/2 100; 1 wait 0 3 P2/3 6000; 0 pass 0 0 - 500; 1 repeat 0 2 - 2000");
    }
}
