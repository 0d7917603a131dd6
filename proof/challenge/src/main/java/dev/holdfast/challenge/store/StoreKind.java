package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ServerClock;
import java.util.List;
import java.util.Optional;

/**
 * A kind of store to attack.
 *
 * @param id a word for it
 * @param title what people call it
 * @param isQuick whether a quick run has it
 * @param isProxied whether each worker has a way of its own to it, to be cut off on
 * @param starting how it is started
 */
public record StoreKind(String id, String title, boolean isQuick, boolean isProxied, Starting starting) {
    /** All there are. */
    public static final List<StoreKind> ALL = List.of(
            new StoreKind("sqlite", "SQLite", true, false, clock -> new SqliteTarget()),
            new StoreKind("redis", "Redis", true, true, RedisTarget::start),
            new StoreKind("zookeeper", "ZooKeeper", true, true, clock -> new ZooKeeperTarget()),
            new StoreKind("mariadb", "MariaDB", false, true, SqlTarget::mariaDb),
            new StoreKind("postgresql", "PostgreSQL", false, true, SqlTarget::postgres),
            new StoreKind("sentinel", "Redis with Sentinel", false, false, clock -> new SentinelTarget()),
            new StoreKind("etcd", "etcd", false, true, clock -> new EtcdTarget()),
            new StoreKind("memcached", "Memcached", false, true, clock -> new MemcachedTarget()));

    /** How a store is started. */
    private interface Starting {
        /** Starts it with a wall clock to set, if one is given and the store can go by it. */
        Target start(Optional<ServerClock> clock);
    }

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
     * @param clock a wall clock to set, for a store that goes by one
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
     */
    public Target start(Optional<ServerClock> clock) {
        return starting.start(clock);
    }
}
