package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** Random histories on a single server. */
class ZooKeeperFuzzTest extends StoreFuzz {
    @AutoClose
    private ZooKeeperServer server;

    @BeforeAll
    void startServer() {
        server = ZooKeeperServers.quick();
    }

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new ZooKeeperStoreProvider().open(ZooKeeperServers.url("127.0.0.1:" + port, "2s"), context);
    }

    @Override
    protected OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    protected Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    /**
     * The lease in a session of two seconds, less the margin: the client that breaks a grant may have a faster clock.
     */
    @Override
    protected Duration session() {
        return Duration.ofMillis(1_680);
    }

    /** A session and two ticks. */
    @Override
    protected Duration passesTheDead() {
        return Duration.ofSeconds(4);
    }

    @Override
    protected List<String> regressions() {
        return List.of(
                "1: 2 try 0 0 X 150; 1 revoke 0 0 - 150; 0 repeat 2 0 - 150",
                "3: 1 wait 0 0 X 300; 3 break 0 0 - 150; 0 repeat 0 0 - 100");
    }
}
