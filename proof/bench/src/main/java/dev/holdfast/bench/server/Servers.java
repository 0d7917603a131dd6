package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;

/** Starts the server of a store. */
public final class Servers {
    private Servers() {}

    /**
     * Starts it and returns when it answers.
     *
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has none
     */
    public static Server start(StoreKind store) {
        return switch (store) {
            case MEMORY -> new Memory();
            case SQLITE -> new SqliteFile();
            case REDIS -> new Redis();
            case ZOOKEEPER -> new ZooKeeper();
            case ETCD -> new Etcd();
            case MARIADB -> new MariaDb();
            case POSTGRESQL -> new Postgres();
        };
    }
}
