package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** A store of its own, started to be attacked. */
public interface Target extends AutoCloseable {
    /** A word for a store, what people call it, and how it is started. */
    record Kind(String id, String title, Supplier<Target> starting) {
        /**
         * Starts it and returns when it answers.
         *
         * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
         */
        public Target start() {
            return starting.get();
        }
    }

    /** All there are. */
    List<Kind> KINDS = List.of(
            new Kind("sqlite", "SQLite", SqliteTarget::new),
            new Kind("redis", "Redis", RedisTarget::new),
            new Kind("zookeeper", "ZooKeeper", ZooKeeperTarget::new));

    /** The one with that word. */
    static Kind kind(String id) {
        return KINDS.stream()
                .filter(kind -> kind.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no store '" + id + "'; there are "
                        + String.join(", ", KINDS.stream().map(Kind::id).toList())));
    }

    /** What it is and how it is set, in one line. */
    String settings();

    /** Its address, as users of Holdfast write it. */
    String url();

    /** The port that clients connect to; none for a file. */
    default OptionalInt port() {
        return OptionalInt.empty();
    }

    /** Its process; none for a file. */
    default Optional<ServerProcess> process() {
        return Optional.empty();
    }

    /** Its address through a proxy on another port. */
    default String urlThrough(int proxy) {
        return url().replace(":" + port().orElseThrow(), ":" + proxy);
    }

    @Override
    void close();
}
