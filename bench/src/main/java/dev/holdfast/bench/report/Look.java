package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import java.util.List;

/**
 * How something is drawn.
 *
 * @param strong whether it stands out: Holdfast as it comes
 * @param dashed whether it stands back: the bare commands, and other settings of Holdfast
 */
record Look(Shade shade, boolean strong, boolean dashed) {
    private static final List<Shade> PEERS = List.of(Shade.VERMILION, Shade.GREEN, Shade.PURPLE, Shade.ORANGE);

    /** A line of its own colour, which others may have too after four. */
    static Look ofPlace(int place) {
        return new Look(PEERS.get(place % PEERS.size()), false, false);
    }

    /** A peer among those of its store, of which each has the same colour in all pictures. */
    static Look of(PeerKind peer, List<PeerKind> ofTheStore) {
        return switch (peer.role()) {
            case HOLDFAST ->
                new Look(
                        Shade.HOLDFAST,
                        peer.id().equals(Peers.HOLDFAST),
                        !peer.id().equals(Peers.HOLDFAST));
            case PEER ->
                ofPlace(ofTheStore.stream()
                        .filter(other -> other.role() == Role.PEER)
                        .toList()
                        .indexOf(peer));
            case FLOOR, CEILING, FAKE -> new Look(Shade.FLOOR, false, true);
        };
    }
}
