package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** One ZooKeeper server that forces its log to disk, in a JVM of its own. */
final class ZooKeeper implements Server {
    private static final Pattern FIGURE = Pattern.compile("(zk_\\w+)\\t(\\S+)");
    private static final String HEAP = "-Xmx512m";

    /** Sessions may be as long as a client asks; usually 40 s is the most. */
    private final ZooKeeperServer server = ZooKeeperServer.start(Map.of("maxSessionTimeout", "86400000"), HEAP);

    @Override
    public StoreKind kind() {
        return StoreKind.ZOOKEEPER;
    }

    @Override
    public String url() {
        return "zk://" + server.connectString();
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public String settings() {
        return "ZooKeeper " + figure("zk_version").replaceFirst("[-,].*", "") + ", one server in a JVM with " + HEAP
                + ", forceSync=yes";
    }

    @Override
    public Map<String, Double> counters() {
        return Map.of(
                "packets",
                Double.parseDouble(figure("zk_packets_received")) + Double.parseDouble(figure("zk_packets_sent")));
    }

    @Override
    public Map<String, Double> residue() {
        return Map.of(
                "nodes", Double.parseDouble(figure("zk_znode_count")),
                "bytes", Double.parseDouble(figure("zk_approximate_data_size")));
    }

    @Override
    public void close() {
        server.close();
    }

    private String figure(String name) {
        return FIGURE.matcher(server.command("mntr"))
                .results()
                .filter(match -> match.group(1).equals(name))
                .map(match -> match.group(2))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("mntr has no " + name));
    }
}
