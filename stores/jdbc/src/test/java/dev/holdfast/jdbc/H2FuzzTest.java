package dev.holdfast.jdbc;

import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Random histories on an H2 server of its own process, whose clients live in different time zones. */
@Tag("thorough") // the histories of PostgreSQL and MariaDB go through the same store every day
class H2FuzzTest extends ServerFuzz {
    private static final List<String> ZONES = List.of("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Apia");

    /** H2 that is killed may forget its latest commits once it writes into space of its file that was used before. */
    private static final String NOTHING_IS_OVERWRITTEN = "RETENTION_TIME=100000000";

    @AutoClose
    private H2Server server;

    @BeforeAll
    void startServer() {
        server = H2Server.start(environment());
    }

    @Override
    ServerProcess server() {
        return server.process();
    }

    @Override
    String url(int port, int client) {
        return "jdbc:h2:tcp://127.0.0.1:" + port + "/./locks;DB_CLOSE_DELAY=-1;" + NOTHING_IS_OVERWRITTEN
                + ";TIME ZONE=" + ZONES.get(client);
    }

    @Override
    protected List<String> regressions() {
        return List.of("1: 0 try 0 0 X 6000; 1 try 0 1 X 6000", "1: 0 try 0 0 X 6000; 0 crash 0 0 - 0");
    }
}
