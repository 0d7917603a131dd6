package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** A store under measurement: where it is, how it is set, and what it counts. */
public interface Server extends AutoCloseable {
    /** Which store it is. */
    StoreKind kind();

    /** Its address, as users of Holdfast write it. */
    String url();

    /** Its process; none for what lives in files or memory, or in several. */
    default Optional<ServerProcess> process() {
        return Optional.empty();
    }

    /** The port behind that address; none for what lives in files or memory. */
    default OptionalInt port() {
        return process().map(server -> OptionalInt.of(server.port())).orElse(OptionalInt.empty());
    }

    /** Version and durability, in one line. */
    String settings();

    /** What it has counted since it began, by its own counters; differences are taken. */
    default Map<String, Double> counters() {
        return Map.of();
    }

    /** What it keeps now: keys, rows, bytes. */
    default Map<String, Double> residue() {
        return Map.of();
    }

    /** The processor time it has used; nothing for what runs in its clients. */
    default Duration cpuTime() {
        return process().map(ServerProcess::cpuTime).orElse(Duration.ZERO);
    }

    /** Kills it and starts it again on the same port, with what it has written; returns when it answers. */
    default void restart() {
        process()
                .orElseThrow(() -> new UnsupportedOperationException(kind().title() + " has no server"))
                .restart();
    }

    @Override
    void close();

    /** The same address through a proxy on another port of this machine. */
    default String urlThrough(int proxy) {
        return url().replace(":" + port().orElseThrow(), ":" + proxy);
    }
}
