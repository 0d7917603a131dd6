package dev.holdfast.bench.peer;

/** For the many libraries that have plain locks alone. */
final class Only {
    private Only() {}

    static void exclusive(Peer.Mode mode, Peer peer) {
        if (mode != Peer.Mode.EXCLUSIVE) {
            throw new UnsupportedOperationException(peer.getClass().getSimpleName() + " has no " + mode);
        }
    }
}
