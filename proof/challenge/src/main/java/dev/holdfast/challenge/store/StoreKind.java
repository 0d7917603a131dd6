package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ServerClock;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A kind of store to attack.
 *
 * @param id a word for it
 * @param isQuick whether a quick run has it
 * @param isProxied whether each worker has a way of its own to it, to be cut off on
 * @param starting how it is started
 */
public record StoreKind(String id, boolean isQuick, boolean isProxied, Starting starting) {
    /** All there are. */
    public static final List<StoreKind> ALL = List.of(
            new StoreKind("sqlite", true, false, (clock, folder) -> new SqliteTarget(folder)),
            new StoreKind("redis", true, true, (clock, folder) -> RedisTarget.start(clock)),
            new StoreKind("zookeeper", true, true, (clock, folder) -> new ZooKeeperTarget()),
            new StoreKind("mariadb", false, true, (clock, folder) -> SqlTarget.mariaDb(clock)),
            new StoreKind("postgresql", false, true, (clock, folder) -> SqlTarget.postgres(clock)),
            new StoreKind("sentinel", false, false, (clock, folder) -> new SentinelTarget()),
            new StoreKind("etcd", false, true, (clock, folder) -> new EtcdTarget()),
            new StoreKind("memcached", false, true, (clock, folder) -> new MemcachedTarget()));

    /** How a store is started. */
    public interface Starting {
        /**
         * Starts it with a wall clock to set, if one is given and the store can use it. A store without a server keeps its
         * file in the folder.
         */
        Target start(Optional<ServerClock> clock, Path folder);
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
     * @param folder for the files of a store without a server
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
     */
    public Target start(Optional<ServerClock> clock, Path folder) {
        return starting.start(clock, folder);
    }
}
