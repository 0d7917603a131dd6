package dev.holdfast.challenge.store;

import java.util.List;
import java.util.function.Supplier;

/**
 * A kind of store to attack.
 *
 * @param id a word for it
 * @param title what people call it
 * @param starting how it is started
 */
public record StoreKind(String id, String title, Supplier<Target> starting) {
    /** All there are. */
    public static final List<StoreKind> ALL = List.of(
            new StoreKind("sqlite", "SQLite", SqliteTarget::new),
            new StoreKind("redis", "Redis", RedisTarget::new),
            new StoreKind("zookeeper", "ZooKeeper", ZooKeeperTarget::new));

    /** The one with that word. */
    public static StoreKind of(String id) {
        return ALL.stream()
                .filter(kind -> kind.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no store '" + id + "'; there are "
                        + String.join(", ", ALL.stream().map(StoreKind::id).toList())));
    }

    /**
     * Starts it and returns when it answers.
     *
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
     */
    public Target start() {
        return starting.get();
    }
}
