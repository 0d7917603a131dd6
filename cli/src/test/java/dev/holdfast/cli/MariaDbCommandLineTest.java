package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Ports;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The command line on MariaDB. */
class MariaDbCommandLineTest extends CommandLineContract {
    private static MariaDbServer server;

    @BeforeAll
    static void startServer() {
        server = orSkip(() -> MariaDbServer.start());
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected String emptyStore(Path folder) {
        Database.run(server.jdbcUrl(), "DROP TABLE IF EXISTS holdfast_lock");
        return server.jdbcUrl();
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "jdbc:mariadb://127.0.0.1:" + Ports.free() + "/test?user=me&password=s3cret";
    }

    @Override
    protected String shown(String url) {
        return url.replaceFirst("\\?.*", "");
    }
}
