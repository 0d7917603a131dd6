package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line on ZooKeeper. */
@Tag("thorough")
@Tag("engine-in-another-class")
class ZooKeeperCommandLineTest extends CommandLineContract {
    private static final AtomicInteger STORES = new AtomicInteger();

    @AutoClose
    private static final ZooKeeperServer server =
            ZooKeeperServer.start(Map.of("tickTime", "500", "maxSessionTimeout", "60000"));

    /** A chroot that nobody has used. */
    @Override
    protected String emptyStore(Path folder) {
        String chroot = "/store" + STORES.incrementAndGet();
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 10_000, event -> {})) {
            zooKeeper.create(chroot, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return "zk://" + server.connectString() + chroot + "?session=3s&tick=500ms";
    }

    /** The URL says nothing of sessions, which would last for 15 s: a run asks for one as long as its lease. */
    @Test
    void aRunThatIsKilledKeepsOthersOutForItsLease(@TempDir Path folder) {
        Cli cli = new Cli(folder, emptyStore(folder).replace("session=3s&", ""));
        try (ChildProcess killed =
                        cli.start("run", "--lease", "5s", "job", "--", "sh", "-c", "echo in; exec sleep 600");
                LockClient client = cli.client()) {
            killed.expect("in", Cli.SOON);
            ChildProcess next = cli.start("run", "--wait", "1m", "job", "--", "true");
            await().atMost(Cli.SOON).until(() -> client.lock("job").status().waiting() == 1);

            long since = System.nanoTime();
            ProcessHandle.of(killed.pid()).stream()
                    .flatMap(ProcessHandle::children)
                    .forEach(ProcessHandle::destroyForcibly);
            killed.kill();

            assertThat(Cli.end(next).code()).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(Duration.ofSeconds(12));
        }
    }

    /**
     * A node that says nonsense, before the holder's and of no session: a holder whose own node says nonsense gives it
     * up, sooner or later.
     */
    @Override
    protected boolean plantForeignRecord(String url, String name) throws Exception {
        String chroot = url.replaceFirst("zk://[^/]*", "").replaceFirst("\\?.*", "");
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString() + chroot, 10_000, event -> {})) {
            String locks = "/holdfast/locks";
            for (String bucket : zooKeeper.getChildren(locks, false)) {
                String lock = locks + "/" + bucket + "/" + name;
                if (zooKeeper.exists(lock, false) != null) {
                    String held = zooKeeper.getChildren(lock, false).get(0);
                    int place = Integer.parseInt(held.substring(held.lastIndexOf('-') + 1));
                    zooKeeper.create(
                            String.format("%s/x-%032x-%010d", lock, 15, place - 1),
                            "5 %zz 1 %zz".getBytes(StandardCharsets.UTF_8),
                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                            CreateMode.PERSISTENT);
                    return true;
                }
            }
        }
        return false;
    }

    /** And a tick, by which the servers round up. */
    @Override
    protected Optional<Duration> session() {
        return Optional.of(Duration.ofMillis(3_500));
    }

    /** Without the settings of the session. */
    @Override
    protected String shown(String url) {
        return url.substring(0, url.indexOf('?'));
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "zk://me:s3cret@127.0.0.1:" + Ports.free() + "?timeout=1s";
    }
}
