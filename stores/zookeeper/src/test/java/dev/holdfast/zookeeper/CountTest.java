package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.File;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock whose node has numbered almost as many claims as a server can count. */
@Tag("thorough")
class CountTest {
    private static final String LOCK = new Paths("").lock("busy");
    private static final int LAST = Integer.MAX_VALUE - 1_000_000;

    /** So that the next claim is one of its own, not the grant whose release is still deferred. */
    private static final HoldOptions AWAITED = HoldOptions.defaults().awaitRelease(true);

    @Test
    void theLastPlaceIsGrantedAndTheNextIsRefusedAndLeavesNothing() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start(ZooKeeperServers.SETTINGS, "-Xmx128m")) {
            try (LockClient client = open(server)) {
                client.lock("busy").acquire().close();
            }

            countTo(LAST, server.process());

            try (LockClient client = open(server)) {
                try (Hold hold = client.lock("busy", AWAITED).acquire()) {
                    assertThat(hold.isValid()).isTrue();
                }
                assertThatThrownBy(() -> client.lock("busy").acquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("'busy'")
                        .hasMessageContaining("use another name");
                assertThatThrownBy(() -> client.lock("busy").tryAcquire()).isInstanceOf(StoreRefusedException.class);
                assertThat(client.lock("busy").status().isHeld()).isFalse();
            }
        }
    }

    /** Two thousand million claims later: writes what the server would have counted into its data, while it is down. */
    private static void countTo(int count, ServerProcess server) throws Exception {
        server.kill();
        File data = server.home().folder().resolve("data").toFile();
        FileTxnSnapLog files = new FileTxnSnapLog(data, data);
        DataTree tree = new DataTree();
        ConcurrentHashMap<Long, Integer> sessions = new ConcurrentHashMap<>();
        files.restore(tree, sessions, (header, change, digest) -> {});
        tree.getNode(LOCK).stat.setCversion(count);
        files.save(tree, sessions, true);
        files.close();
        server.restart();
    }

    private static LockClient open(ZooKeeperServer server) {
        return LockClient.connect(ZooKeeperServers.url(server));
    }
}
