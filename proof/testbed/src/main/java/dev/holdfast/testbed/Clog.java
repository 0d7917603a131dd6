package dev.holdfast.testbed;

/**
 * One connection of a {@link TcpProxy} whose replies stay in the proxy, while those of all others pass. Thread-safe;
 * methods throw {@link IllegalStateException} once the proxy is closed.
 */
public final class Clog {
    private final ProxyLoop loop;
    private final ProxyConnection connection;

    Clog(ProxyLoop loop, ProxyConnection connection) {
        this.loop = loop;
        this.connection = connection;
    }

    /** Whether a reply was kept. A fault that did not bite proves nothing. */
    public boolean hasBitten() {
        return loop.call(connection::hasKeptReply);
    }

    /** Passes what was kept, in order, and what follows. */
    public void free() {
        loop.run(connection::free);
    }
}
