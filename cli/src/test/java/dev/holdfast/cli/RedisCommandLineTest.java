package dev.holdfast.cli;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The command line on Redis. */
class RedisCommandLineTest extends CommandLineContract {
    private static RedisServer server;

    @BeforeAll
    static void startServer() {
        server = orSkip(() -> RedisServer.start("--appendonly", "yes")); // one that is not warned about
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected String emptyStore(Path folder) {
        try (RespConnection redis = server.connect()) {
            redis.call("FLUSHALL");
        }
        return server.uri();
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "redis://me:s3cret@127.0.0.1:" + Ports.free();
    }
}
