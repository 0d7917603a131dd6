package dev.holdfast.bench.writes;

import dev.holdfast.bench.peer.StoreKind;
import java.util.Map;

/** A server that writes all it can be made to write, and its own counters; those of a file are its processes' calls. */
interface Counters extends AutoCloseable {
    /**
     * Starts the server of a store.
     *
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
     */
    static Counters of(StoreKind store) {
        return switch (store) {
            case SQLITE -> new SqliteCounters();
            case REDIS -> new RedisCounters();
            case ZOOKEEPER -> new ZooKeeperCounters();
            case ETCD -> new EtcdCounters();
            case MARIADB -> new MariaDbCounters();
            case POSTGRESQL -> new PostgresCounters();
            case MEMORY -> throw new IllegalArgumentException("memory writes nothing");
        };
    }

    /** The address, as users of Holdfast write it. */
    String url();

    /** Version and settings, in one line. */
    String settings();

    /** What has been counted since the server began, once no client is connected; what is asked here does not count. */
    Map<String, Double> counted();

    /** What is stored at present. */
    Map<String, Double> kept();

    /** The control: so many bytes, in one commit that every counter counts. */
    void write(int bytes);

    /** What takes away history that nobody needs, by name, in the order in which it is done; mostly nothing does. */
    default Map<String, Runnable> cleaning() {
        return Map.of();
    }

    @Override
    void close();
}
