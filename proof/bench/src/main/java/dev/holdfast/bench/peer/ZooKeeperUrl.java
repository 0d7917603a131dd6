package dev.holdfast.bench.peer;

/** The address of a ZooKeeper as Holdfast's users write it: {@code zk://host:port}. */
final class ZooKeeperUrl {
    private static final String SCHEME = "zk://";

    private ZooKeeperUrl() {}

    /** The servers in it, as ZooKeeper's own clients want them. */
    static String servers(String url) {
        if (!url.startsWith(SCHEME)) {
            throw new IllegalArgumentException("not " + SCHEME + "host:port: " + url);
        }
        return url.substring(SCHEME.length());
    }
}
