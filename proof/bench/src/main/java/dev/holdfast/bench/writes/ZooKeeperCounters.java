package dev.holdfast.bench.writes;

import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * ZooKeeper whose log files are as long as what was written to them: they are usually 64 MiB longer. It does not sweep away
 * the nodes of idle names meanwhile, each of which is one more write.
 */
final class ZooKeeperCounters implements Counters {
    private static final int SESSION_MILLIS = 30_000;

    private final ZooKeeperServer server = ZooKeeperServer.start(
            "-Xmx256m", "-Dzookeeper.preAllocSize=0", "-Dznode.container.checkIntervalMs=3600000");

    /** Each question is a packet too. */
    private int asked;

    @Override
    public String url() {
        return "zk://" + server.connectString();
    }

    @Override
    public String settings() {
        return "ZooKeeper "
                + find("mntr", "zk_version\\t([\\d.]+)")
                + ", one server, forceSync=yes, no sweep of idle names meanwhile; pings of idle clients are packets too";
    }

    @Override
    public Map<String, Double> counted() {
        return Quiet.after(() -> Map.of(
                "packets received", figure("zk_packets_received") - asked,
                "log bytes", Double.parseDouble(find("dirs", "logdir_size: (\\d+)")),
                "fsyncs", figure("zk_cnt_fsynctime")));
    }

    @Override
    public Map<String, Double> kept() {
        return Map.of("nodes", figure("zk_znode_count"), "bytes of data", figure("zk_approximate_data_size"));
    }

    @Override
    public void write(int bytes) {
        try (ZooKeeper client = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {})) {
            String unused = client.create(
                    "/control-", new byte[bytes], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException("cannot write", e);
        }
    }

    @Override
    public void close() {
        server.close();
    }

    private double figure(String name) {
        return Double.parseDouble(find("mntr", name + "\\t([\\d.]+)"));
    }

    private String find(String command, String pattern) {
        asked++;
        return Pattern.compile(pattern)
                .matcher(server.command(command))
                .results()
                .map(match -> match.group(1))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(command + " has no " + pattern));
    }
}
