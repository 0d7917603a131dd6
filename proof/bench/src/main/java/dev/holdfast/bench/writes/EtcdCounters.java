package dev.holdfast.bench.writes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testbed.EtcdServer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** One etcd server that forces its log to the disk. With three, each writes what this one does. */
final class EtcdCounters implements Counters {
    private static final String CLIENTS = "(KV|Lease|Lock|Watch)\".*}";

    private final EtcdServer server = EtcdServer.start("--unsafe-no-fsync=false");
    private int written;

    @Override
    public String url() {
        return "etcd://" + server.endpoint();
    }

    @Override
    public String settings() {
        return "etcd " + server.version()
                + ", one server, each change forced to disk, no compaction meanwhile; requests and answers are messages,"
                + " those of streams too";
    }

    @Override
    public Map<String, Double> counted() {
        return Quiet.after(() -> Map.of(
                "revisions", server.metric("etcd_debugging_mvcc_current_revision"),
                "log bytes", server.metric("etcd_disk_wal_write_bytes_total"),
                "fsyncs", server.metric("etcd_disk_wal_fsync_duration_seconds_count"),
                "requests", server.metric("grpc_server_msg_received_total\\{.*" + CLIENTS),
                "answers", server.metric("grpc_server_msg_sent_total\\{.*" + CLIENTS)));
    }

    @Override
    public Map<String, Double> kept() {
        return Map.of(
                "keys", server.metric("etcd_debugging_mvcc_keys_total"),
                "bytes of file", server.metric("etcd_mvcc_db_total_size_in_bytes"));
    }

    @Override
    public void write(int bytes) {
        String unused = server.ask(
                "kv/put",
                "{\"key\":\"%s\",\"value\":\"%s\"}"
                        .formatted(base64("control-" + ++written), base64("x".repeat(bytes))));
    }

    @Override
    public Map<String, Runnable> cleaning() {
        Map<String, Runnable> steps = new LinkedHashMap<>();
        steps.put("compacted", () -> {
            long revision = (long) server.metric("etcd_debugging_mvcc_current_revision");
            if (revision > server.metric("etcd_debugging_mvcc_compact_revision")) {
                String unused = server.ask("kv/compaction", "{\"revision\":%d,\"physical\":true}".formatted(revision));
            }
        });
        steps.put("then defragmented", () -> {
            String unused = server.ask("maintenance/defragment", "{}");
        });
        return steps;
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    @Override
    public void close() {
        server.close();
    }
}
