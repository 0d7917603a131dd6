package dev.holdfast.challenge.store;

import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;

/** One Memcached server, which keeps all in memory. */
final class MemcachedTarget implements Target {
    private final MemcachedServer server = MemcachedServer.start();

    @Override
    public String settings() {
        return "Memcached " + server.ask("version").get(0).replaceFirst("^VERSION ", "");
    }

    @Override
    public String url() {
        return "memcached://" + server.endpoint();
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
