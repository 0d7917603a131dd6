package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.server.Server;
import java.util.Locale;

/** What breaks while others want the lock. */
public enum Outage {
    /** The holder's process is killed. */
    HOLDER_KILLED("the holder is killed"),
    /** The holder's process is stopped, as by a long pause of its machine. */
    HOLDER_STOPPED("the holder is stopped"),
    /** The server is killed and started again, while two processes take turns. */
    SERVER_RESTARTED("the server is killed and restarted");

    private final String title;

    Outage(String title) {
        this.title = title;
    }

    /** What people read. */
    public String title() {
        return title;
    }

    /** The name of its figure for a peer, the seconds without service. */
    public String figure(StoreKind store, PeerKind peer) {
        return Figures.on(store, "outage-" + name().toLowerCase(Locale.ROOT) + "-" + peer.id());
    }

    /** Whether a store has what breaks. */
    public boolean suits(Server server) {
        return server.kind() != StoreKind.MEMORY
                && (this != SERVER_RESTARTED || server.port().isPresent());
    }
}
