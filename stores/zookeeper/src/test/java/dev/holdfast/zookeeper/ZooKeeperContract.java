package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on a single server, one that sweeps empty locks away at once instead of once a minute; a class for each of
 * its storeys.
 */
abstract class ZooKeeperContract extends StoreContract {
    @AutoClose
    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperServers.quick();
    }

    @Override
    protected Store open(StoreContext context) {
        return new ZooKeeperStoreProvider().open(ZooKeeperServers.url(server), context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(ZooKeeperServers.url(server));
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }

    /** The buckets stay. */
    @Override
    protected long recordsKept(long names) {
        return Paths.BUCKETS;
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(ZooKeeperServers.figure(server, "zk_znode_count"));
    }

    @Override
    protected Set<String> expectedSkips() {
        return SKIPS_WITHOUT_LEASES;
    }
}
