package dev.holdfast.bench.run;

import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.server.Server;

/** Whether this library has a store for a server; those come one after the other. */
public final class Holdfasts {
    private Holdfasts() {}

    /** Always true of the other libraries. */
    public static boolean hasStoreFor(PeerKind peer, Server server) {
        if (peer.role() != PeerKind.Role.HOLDFAST) {
            return true;
        }
        try (LockClient client = LockClient.connect(server.url())) {
            return true;
        } catch (IllegalArgumentException e) {
            // Its message lists what may be added to the class path; nothing is there to add yet.
            return false;
        }
    }
}
