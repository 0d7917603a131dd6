package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.EtcdCluster;
import dev.holdfast.testbed.EtcdServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Three members of one etcd that force their logs to disk, as etcd is run where it matters. */
final class Etcd implements Server {
    private static final String FORCED = "--unsafe-no-fsync=false";

    private final EtcdCluster cluster = EtcdCluster.start(FORCED);
    private final List<EtcdServer> members =
            IntStream.range(0, EtcdCluster.MEMBERS).mapToObj(cluster::member).toList();

    @Override
    public StoreKind kind() {
        return StoreKind.ETCD;
    }

    @Override
    public String url() {
        return "etcd://" + cluster.endpoints();
    }

    /** That of one member: through a proxy it is the only one. */
    @Override
    public OptionalInt port() {
        return OptionalInt.of(members.get(0).port());
    }

    @Override
    public String urlThrough(int proxy) {
        return "etcd://127.0.0.1:" + proxy;
    }

    @Override
    public String settings() {
        return "etcd " + members.get(0).version() + ", three members, each change forced to the disk of a majority";
    }

    /** Requests of clients, those in streams too, and changes of the store; a released lock took two. */
    @Override
    public Map<String, Double> counters() {
        double requests = members.stream()
                .mapToDouble(member -> member.metric("grpc_server_msg_received_total\\{.*(KV|Lease|Lock|Watch)\".*}"))
                .sum();
        return Map.of("requests", requests, "revisions", most("etcd_debugging_mvcc_current_revision"));
    }

    @Override
    public Map<String, Double> residue() {
        return Map.of(
                "keys", most("etcd_debugging_mvcc_keys_total"),
                "bytes", most("etcd_mvcc_db_total_size_in_use_in_bytes"));
    }

    private double most(String metric) {
        return members.stream()
                .mapToDouble(member -> member.metric(metric))
                .max()
                .orElse(0);
    }

    @Override
    public Duration cpuTime() {
        return members.stream().map(member -> member.process().cpuTime()).reduce(Duration.ZERO, Duration::plus);
    }

    /** All members together. */
    @Override
    public void restart() {
        members.forEach(member -> member.process().kill());
        members.forEach(member -> member.process().restart());
        int unused = cluster.leader();
    }

    @Override
    public void close() {
        cluster.close();
    }
}
