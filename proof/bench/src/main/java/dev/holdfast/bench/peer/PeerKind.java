package dev.holdfast.bench.peer;

import dev.holdfast.bench.peer.Peer.Mode;
import java.util.Set;

/**
 * A way to lock that is measured.
 *
 * @param id how rows and workers name it
 * @param title how pictures name it
 * @param role what it stands for in a comparison
 * @param stores where it runs
 * @param modes what it has
 * @param opening how a process comes by it
 */
public record PeerKind(String id, String title, Role role, Set<StoreKind> stores, Set<Mode> modes, Opening opening) {
    /** What a row stands for. */
    public enum Role {
        /** No shared lock can be faster. */
        CEILING,
        /** The store's bare commands. */
        FLOOR,
        /** A library that users would otherwise pick. */
        PEER,
        /** This library. */
        HOLDFAST,
        /** A deliberate failure, for the tests. */
        FAKE
    }

    /** How a process comes by it. */
    public interface Opening {
        /**
         * Connects one client.
         *
         * @param url the store, as users of Holdfast write it
         * @param clients how many clients the process has in all; where it is more than one, each stays small
         */
        Peer connect(String url, int clients) throws Exception;
    }

    /** Whether its plain lock can be tried. */
    public boolean hasTry() {
        return !id.equals(Peers.JETCD);
    }

    /** Connects one client; as {@link Opening#connect}. */
    public Peer connect(String url, int clients) throws Exception {
        return opening.connect(url, clients);
    }
}
