package dev.holdfast.testbed;

/**
 * A real server of some kind on a private port and folder of this machine: what all kinds have in common.
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public abstract sealed class LocalServer implements AutoCloseable
        permits EtcdServer, MariaDbServer, MemcachedServer, PostgresServer, RedisServer, ZooKeeperServer {
    private final ServerProcess process;

    LocalServer(ServerProcess process) {
        this.process = process;
    }

    /** The port it listens on, the same over restarts. */
    public final int port() {
        return process.port();
    }

    /** The process: to stop, kill, restart, and read the log. */
    public final ServerProcess process() {
        return process;
    }

    /** Kills the server and deletes its folder. */
    @Override
    public final void close() {
        process.close();
    }

    @Override
    public final String toString() {
        return process.toString();
    }
}
