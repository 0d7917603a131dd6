package dev.holdfast.challenge.store;

import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerMissingException;
import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** One Redis server that writes nothing to disk, as it is mostly run for locks. */
record RedisTarget(RedisServer server, Optional<ServerClock> clock) implements Target {
    private static final String SCRIPT =
            "local now = redis.call('TIME') return tostring(now[1] * 1000 + math.floor(now[2] / 1000))";

    /** Without a clock where there is only the server of a jar, which cannot go by one. */
    static RedisTarget start(Optional<ServerClock> clock) {
        if (clock.isPresent()) {
            try {
                return new RedisTarget(RedisServer.startInstalled(clock.get().environment()), clock);
            } catch (ServerMissingException notInstalled) {
                // the other one, then
            }
        }
        return new RedisTarget(RedisServer.start(), Optional.empty());
    }

    @Override
    public String settings() {
        return version(server) + ", nothing is written to disk";
    }

    /** As {@code Redis 7.0.15}. */
    static String version(RedisServer server) {
        return "Redis "
                + server.call("INFO", "server")
                        .lines()
                        .filter(line -> line.startsWith("redis_version:"))
                        .map(line -> line.substring("redis_version:".length()).strip())
                        .findFirst()
                        .orElse("of an unknown version");
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
    public long wallMillis() {
        return (long) Double.parseDouble(server.call("EVAL", SCRIPT, "0"));
    }

    @Override
    public int killConnections() {
        return Stream.of("normal", "pubsub")
                .mapToInt(type -> Integer.parseInt(server.call("CLIENT", "KILL", "TYPE", type)))
                .sum();
    }

    @Override
    public List<String> kept() {
        return kept(server);
    }

    /**
     * All keys, but those that the server removes by itself: the record of a job that was done, for as long as it is to be
     * kept; and for a minute the state of a free lock, with the claim that was withdrawn last, and what is left of a queue
     * or of sharers, which the scripts count no more.
     */
    static List<String> kept(RedisServer server) {
        try (RespConnection redis = server.connect()) {
            String keys = redis.call("KEYS", "holdfast:{*"); // as [one, another]
            return Stream.of(keys.substring(1, keys.length() - 1).split(", "))
                    .filter(key -> !key.isEmpty() && !mayStay(redis, key))
                    .toList();
        }
    }

    private static boolean mayStay(RespConnection redis, String key) {
        boolean isForEver = redis.call("PTTL", key).equals("-1");
        boolean isState = key.endsWith("}");
        return !isForEver && !(isState && redis.call("GET", key).matches("\\d+ [XSPR].*"));
    }

    @Override
    public void close() {
        server.close();
    }
}
