package dev.holdfast.challenge.store;

import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import java.util.Optional;

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
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    /** All items but those whose life is over, which the server does not show: a released lock is one. */
    @Override
    public List<String> kept() {
        List<String> items;
        do {
            items = server.ask("lru_crawler metadump all");
        } while (items.get(0).startsWith("BUSY")); // a crawler of the server's own
        return items.stream()
                .filter(item -> item.startsWith("key=holdfast%3Alock"))
                .toList();
    }

    @Override
    public void close() {
        server.close();
    }
}
