package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerProcess;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Redis without persistence, which is how it is mostly run for locks. */
final class Redis implements Server {
    private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z_|]+):calls=(\\d+)");
    private static final Pattern FIELD = Pattern.compile("([a-z_]+):(.*)");
    private static final Set<String> SCRIPTS = Set.of("eval", "evalsha", "fcall");
    private static final Set<String> PUSHES = Set.of("publish", "spublish");
    /** What this class itself sends. */
    private static final Set<String> OWN = Set.of("info", "dbsize", "ping");

    private final RedisServer server = RedisServer.start();
    private final RespConnection connection = server.connect();

    @Override
    public StoreKind kind() {
        return StoreKind.REDIS;
    }

    @Override
    public String url() {
        return server.uri();
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public String settings() {
        return "Redis " + field("server", "redis_version") + ", save \"\", appendonly no (nothing is written to disk)";
    }

    /** Commands include those that scripts call. */
    @Override
    public Map<String, Double> counters() {
        Map<String, Double> counters = new TreeMap<>(Map.of("commands", 0.0, "scripts", 0.0, "publish", 0.0));
        for (MatchResult match :
                CALLS.matcher(connection.call("INFO", "commandstats")).results().toList()) {
            String command = match.group(1);
            double calls = Double.parseDouble(match.group(2));
            if (!OWN.contains(command)) {
                counters.merge("commands", calls, Double::sum);
            }
            if (SCRIPTS.contains(command)) {
                counters.merge("scripts", calls, Double::sum);
            }
            if (PUSHES.contains(command)) {
                counters.merge("publish", calls, Double::sum);
            }
        }
        return counters;
    }

    @Override
    public Map<String, Double> residue() {
        return Map.of(
                "keys", Double.parseDouble(connection.call("DBSIZE")),
                "bytes", Double.parseDouble(field("memory", "used_memory")));
    }

    @Override
    public void close() {
        connection.close();
        server.close();
    }

    private String field(String section, String name) {
        return FIELD.matcher(connection.call("INFO", section))
                .results()
                .filter(match -> match.group(1).equals(name))
                .map(match -> match.group(2).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("INFO " + section + " has no " + name));
    }
}
