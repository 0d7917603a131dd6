package dev.holdfast.zookeeper;

import dev.holdfast.spi.Grant;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/**
 * A grant that exists, as far as is known here. Its node is watched from its first renewal on, so that short holds do
 * not pay for it.
 */
final class HeldNode implements Watcher {
    private static final int NEVER = -1;

    private final Grant grant;
    private final String path;
    private final Session session;
    private final boolean alone;
    private final HeldNodes all;
    /** How many connections the session had lost when its watch was asked for; none is watched at first. */
    private volatile int watchedAfter = NEVER;

    /**
     * @param alone whether its node has been seen as the only one of its lock
     */
    HeldNode(Grant grant, String path, Session session, boolean alone, HeldNodes all) {
        this.grant = grant;
        this.path = path;
        this.session = session;
        this.alone = alone;
        this.all = all;
    }

    Grant grant() {
        return grant;
    }

    String path() {
        return path;
    }

    /** The node of its lock. */
    String lock() {
        return Paths.parent(path);
    }

    /** The name of the node under its lock. */
    String node() {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    Session session() {
        return session;
    }

    /** Whether its node was the only one of its lock when it was granted. */
    boolean wasAlone() {
        return alone;
    }

    /**
     * Whether the server reports the next change of the node. Not once a connection is lost: an application may have told
     * the client library not to set its watches again.
     */
    boolean isWatched() {
        return watchedAfter == session.connectionsLost();
    }

    /** It is watched by a request that was sent when so many connections had been lost. */
    void setWatched(int connectionsLost) {
        watchedAfter = connectionsLost;
    }

    @Override
    public void process(WatchedEvent event) {
        switch (event.getType()) {
            case NodeDeleted -> all.gone(this);
            case NodeDataChanged -> all.broken(this);
            default -> {}
        }
    }
}
