package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import java.util.List;

/**
 * How a series is drawn.
 *
 * @param strong whether it is drawn thick and bold: Holdfast with its defaults
 * @param dashed whether it is drawn dashed: the bare commands, and other settings of Holdfast
 */
record SeriesStyle(ThemeColour colour, boolean strong, boolean dashed) {
    private static final List<ThemeColour> PEERS =
            List.of(ThemeColour.VERMILION, ThemeColour.GREEN, ThemeColour.PURPLE, ThemeColour.ORANGE);

    /** The style of a series by its number; after four, the colours repeat. */
    static SeriesStyle ofNumber(int number) {
        return new SeriesStyle(PEERS.get(number % PEERS.size()), false, false);
    }

    /** The same peer of a store has the same style in all pictures. */
    static SeriesStyle of(PeerKind peer, List<PeerKind> ofTheStore) {
        return switch (peer.role()) {
            case HOLDFAST -> {
                boolean defaults = peer.id().equals(Peers.HOLDFAST);
                yield new SeriesStyle(ThemeColour.HOLDFAST, defaults, !defaults);
            }
            case PEER ->
                ofNumber(ofTheStore.stream()
                        .filter(other -> other.role() == Role.PEER)
                        .toList()
                        .indexOf(peer));
            case FLOOR, CEILING, FAKE -> new SeriesStyle(ThemeColour.FLOOR, false, true);
        };
    }
}
