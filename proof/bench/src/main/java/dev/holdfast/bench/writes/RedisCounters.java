package dev.holdfast.bench.writes;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Redis with an append-only file and a replica. Keys that nobody reads are not deleted when they expire. Otherwise the deletion of
 * keys of one measurement would be counted in a later one.
 */
final class RedisCounters implements Counters {
    private static final Duration SOON = Duration.ofMillis(20);
    private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z_|]+):calls=(\\d+)");
    private static final Pattern SCRIPTS = Pattern.compile("eval|evalsha|fcall");
    private static final Pattern PUSHES = Pattern.compile("publish|spublish");
    /** By each key, since what the server uses as a whole depends on its clients as well. */
    private static final String MEMORY = "local sum = 0 for _, key in ipairs(redis.call('keys', '*')) do"
            + " sum = sum + redis.call('memory', 'usage', key) end return sum";
    /** What this class, the replica, and what tells both of them apart, send. */
    private static final Pattern OWN = Pattern.compile("debug|info|dbsize|replconf|psync|ping");

    private final RedisServer server = RedisServer.start(
            "--enable-debug-command",
            "yes",
            "--appendonly",
            "yes",
            "--auto-aof-rewrite-percentage",
            "0",
            "--repl-ping-replica-period",
            "3600");
    private final RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(server.port()));
    private final RespConnection connection = server.connect();
    private int written;

    RedisCounters() {
        connection.send("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        String unused = connection.receive();
        while (!connection.call("INFO", "replication").contains("state=online")) {
            Schedule.pause(SOON);
        }
    }

    @Override
    public String url() {
        return server.uri();
    }

    @Override
    public String settings() {
        return "Redis " + field("server", "redis_version")
                + ", appendonly yes, appendfsync everysec, one replica, no key expires by itself meanwhile";
    }

    @Override
    public Map<String, Double> counted() {
        return Quiet.after(() -> Map.of(
                "AOF bytes", number("persistence", "aof_current_size"),
                "replicated bytes", number("replication", "master_repl_offset"),
                "commands", calls(Pattern.compile("(?!" + OWN + ").*")),
                "scripts", calls(SCRIPTS),
                "published", calls(PUSHES)));
    }

    @Override
    public Map<String, Double> kept() {
        return Map.of(
                "keys",
                Double.parseDouble(connection.call("DBSIZE")),
                "bytes of memory",
                Double.parseDouble(connection.call("EVAL", MEMORY, "0")));
    }

    /** One command of each kind that is counted by itself. */
    @Override
    public void write(int bytes) {
        connection.call("SET", "control" + ++written, "x".repeat(bytes));
        connection.call("EVAL", "return 1", "0");
        connection.call("PUBLISH", "control", "");
    }

    @Override
    public void close() {
        connection.close();
        replica.close();
        server.close();
    }

    private double calls(Pattern commands) {
        return CALLS.matcher(connection.call("INFO", "commandstats"))
                .results()
                .filter(match -> commands.matcher(match.group(1)).matches())
                .mapToDouble(match -> Double.parseDouble(match.group(2)))
                .sum();
    }

    private double number(String section, String name) {
        return Double.parseDouble(field(section, name));
    }

    private String field(String section, String name) {
        return Pattern.compile("(?m)^" + name + ":(\\S+)")
                .matcher(connection.call("INFO", section))
                .results()
                .map((MatchResult match) -> match.group(1))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("INFO " + section + " has no " + name));
    }
}
