package dev.holdfast.challenge.store;

import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;

/** One Redis server that writes nothing to disk, as it is mostly run for locks. */
final class RedisTarget implements Target {
    private final RedisServer server = RedisServer.start();

    @Override
    public String settings() {
        try (RespConnection connection = server.connect()) {
            String version = connection
                    .call("INFO", "server")
                    .lines()
                    .filter(line -> line.startsWith("redis_version:"))
                    .findFirst()
                    .orElse("redis_version:?");
            return "Redis " + version.substring("redis_version:".length()).strip() + ", nothing is written to disk";
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
    public void close() {
        server.close();
    }
}
