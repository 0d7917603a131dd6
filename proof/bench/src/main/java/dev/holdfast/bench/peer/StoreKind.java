package dev.holdfast.bench.peer;

/** The stores under measurement, in the order of the report. */
public enum StoreKind {
    MEMORY("mem", "within one JVM"),
    SQLITE("sqlite", "SQLite"),
    REDIS("redis", "Redis"),
    ZOOKEEPER("zookeeper", "ZooKeeper"),
    ETCD("etcd", "etcd"),
    MARIADB("mariadb", "MariaDB"),
    POSTGRESQL("postgresql", "PostgreSQL");

    private final String id;
    private final String title;

    StoreKind(String id, String title) {
        this.id = id;
        this.title = title;
    }

    /** The word of the command line. */
    public String id() {
        return id;
    }

    /** What people read. */
    public String title() {
        return title;
    }
}
