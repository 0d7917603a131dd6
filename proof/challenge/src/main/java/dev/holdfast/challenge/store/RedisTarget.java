package dev.holdfast.challenge.store;

import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerMissingException;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;

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
        try (RespConnection connection = server.connect()) {
            return "Redis "
                    + connection
                            .call("INFO", "server")
                            .lines()
                            .filter(line -> line.startsWith("redis_version:"))
                            .map(line ->
                                    line.substring("redis_version:".length()).strip())
                            .findFirst()
                            .orElse("of an unknown version");
        }
    }

    @Override
    public String url() {
        return server.uri();
    }

    @Override
    public OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public long wallMillis() {
        try (RespConnection connection = server.connect()) {
            return (long) Double.parseDouble(connection.call("EVAL", SCRIPT, "0"));
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
