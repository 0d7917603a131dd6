package dev.holdfast.challenge.store;

import java.util.List;
import java.util.function.Supplier;

/**
 * A kind of store to attack.
 *
 * @param id a word for it
 * @param title what people call it
 * @param isQuick whether a quick run has it
 * @param isProxied whether each worker has a way of its own to it, to be cut off on
 * @param starting how it is started
 */
public record StoreKind(String id, String title, boolean isQuick, boolean isProxied, Supplier<Target> starting) {
    /** All there are. */
    public static final List<StoreKind> ALL = List.of(
            new StoreKind("sqlite", "SQLite", true, false, SqliteTarget::new),
            new StoreKind("redis", "Redis", true, true, RedisTarget::new),
            new StoreKind("zookeeper", "ZooKeeper", true, true, ZooKeeperTarget::new),
            new StoreKind("mariadb", "MariaDB", false, true, SqlTarget::mariaDb),
            new StoreKind("postgresql", "PostgreSQL", false, true, SqlTarget::postgres),
            new StoreKind("sentinel", "Redis with Sentinel", false, false, SentinelTarget::new));

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
