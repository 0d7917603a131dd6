package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Queued;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A claim's node under its lock: what it claims, whose it is, and its place. Its name is written {@code x-ID-PLACE} for
 * an exclusive claim, {@code s-ID-PLACE} for a shared one, {@code p3of5-ID-PLACE} for permits; the place is the number
 * that the server appended.
 *
 * @param name its name under the lock
 * @param mode what it claims
 * @param id whose it is
 * @param place the number the server gave it
 */
record Node(String name, Mode mode, ClaimId id, int place) implements Queued {
    /** The server's count stops at the highest int, and numbers come twice: so many before that are not used. */
    private static final int LAST = Integer.MAX_VALUE - 1_000_000;

    private static final Pattern NAME = Pattern.compile("(x|s|p(\\d{1,9})of(\\d{1,9}))-([0-9a-f]{32})-(-?\\d{9,10})");

    /** How the name of a claim's node begins; the server appends the place. */
    static String prefix(Claim claim) {
        return kind(claim.mode()) + "-" + claim.id() + "-";
    }

    /** Reads a name; empty if it is no name of a claim's node. */
    static Optional<Node> parse(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches()) {
            return Optional.empty();
        }
        long place = Long.parseLong(parts.group(5));
        Optional<Mode> mode = mode(parts);
        return place < Integer.MIN_VALUE || place > Integer.MAX_VALUE
                ? Optional.empty()
                : mode.map(known -> new Node(name, known, ClaimId.of(parts.group(4)), (int) place));
    }

    /** Reads the name at the end of a path. */
    static Optional<Node> ofPath(String path) {
        return parse(path.substring(path.lastIndexOf('/') + 1));
    }

    /** Whether it came before another of the same lock; places below zero come after the highest. */
    boolean isBefore(Node other) {
        return Integer.compareUnsigned(place, other.place) < 0;
    }

    /**
     * Whether it must not hold, nor wait: behind it, or already with it, two nodes may be given the same place, and both
     * would be first.
     */
    boolean isBeyondTheLast() {
        return Integer.compareUnsigned(place, LAST) > 0;
    }

    private static Optional<Mode> mode(Matcher parts) {
        return switch (parts.group(1)) {
            case "x" -> Optional.of(Mode.EXCLUSIVE);
            case "s" -> Optional.of(Mode.SHARED);
            default -> permits(Integer.parseInt(parts.group(2)), Integer.parseInt(parts.group(3)));
        };
    }

    private static Optional<Mode> permits(int permits, int of) {
        return permits < 1 || permits > of ? Optional.empty() : Optional.of(new Mode.Permits(permits, of));
    }

    private static String kind(Mode mode) {
        if (mode instanceof Mode.Permits some) {
            return "p" + some.permits() + "of" + some.of();
        }
        return mode instanceof Mode.Shared ? "s" : "x";
    }
}
