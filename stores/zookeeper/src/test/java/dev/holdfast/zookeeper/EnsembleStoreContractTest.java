package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperEnsemble;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The store on three servers, each client at any of them. For {@code ./verify --all}: the contract of one server, {@link
 * ZooKeeperStoreContractTest}, is everyday, and {@link ThreeServersTest} has what differs. The engine, and processes, see one
 * store, whatever the number of its servers: {@link ZooKeeperEngineContractTest}, {@link ZooKeeperProcessContractTest}.
 */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class EnsembleStoreContractTest extends StoreContract {
    @AutoClose
    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void startServers() {
        Map<String, String> settings = new HashMap<>(ZooKeeperServers.SETTINGS);
        settings.put("syncLimit", "20"); // no election because a busy machine lets a server wait
        ensemble = ZooKeeperEnsemble.start(settings, ZooKeeperServers.FLAGS);
    }

    @Override
    protected Store open(StoreContext context) {
        return new ZooKeeperStoreProvider().open(url().orElseThrow(), context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(ZooKeeperServers.url(ensemble.connectString(), "4s"));
    }

    /** All three stop, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        List<ServerProcess> servers = IntStream.range(0, 3)
                .mapToObj(each -> ensemble.server(each).process())
                .toList();
        servers.forEach(ServerProcess::stop);
        return Optional.of(() -> servers.forEach(ServerProcess::cont));
    }

    /** The buckets stay. */
    @Override
    protected long recordsKept(long names) {
        return Paths.BUCKETS;
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(ZooKeeperServers.figure(ensemble.server(ensemble.leader()), "zk_znode_count"));
    }

    @Override
    protected Set<String> expectedSkips() {
        return SKIPS_WITHOUT_LEASES;
    }
}
