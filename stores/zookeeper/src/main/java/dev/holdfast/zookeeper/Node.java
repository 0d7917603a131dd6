package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Queued;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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

    private static final Pattern PERMITS = Pattern.compile("p(\\d{1,9})of(\\d{1,9})");
    private static final int ID_DIGITS = 32;
    private static final int LEAST_PLACE_DIGITS = 9;
    private static final int MOST_PLACE_DIGITS = 10;

    /** How the name of a claim's node begins; the server appends the place. */
    static String prefix(Claim claim) {
        return kind(claim.mode()) + "-" + claim.id() + "-";
    }

    /** Reads a name; empty if it is no name of a claim's node. Each claim reads some, without an expression for the whole. */
    static Optional<Node> parse(String name) {
        int afterMode = name.indexOf('-');
        int afterId = afterMode + 1 + ID_DIGITS;
        if (afterMode < 0 || afterId >= name.length() || name.charAt(afterId) != '-' || !hasPlace(name, afterId + 1)) {
            return Optional.empty();
        }
        Mode mode = mode(name.substring(0, afterMode));
        String id = name.substring(afterMode + 1, afterId);
        long place = Long.parseLong(name, afterId + 1, name.length(), 10);
        return mode == null || !ClaimId.isId(id) || place < Integer.MIN_VALUE || place > Integer.MAX_VALUE
                ? Optional.empty()
                : Optional.of(new Node(name, mode, ClaimId.of(id), (int) place));
    }

    /** Whether a number as the servers append it begins there, and nothing follows. */
    private static boolean hasPlace(String name, int from) {
        int first = from < name.length() && name.charAt(from) == '-' ? from + 1 : from;
        int digits = name.length() - first;
        for (int i = first; i < name.length(); i++) {
            if (name.charAt(i) < '0' || name.charAt(i) > '9') {
                return false;
            }
        }
        return digits >= LEAST_PLACE_DIGITS && digits <= MOST_PLACE_DIGITS;
    }

    /** Written out, as each claim compares some: what a record does by itself is slow until it is compiled. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Node node && name.equals(node.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
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

    private static @Nullable Mode mode(String kind) {
        return switch (kind) {
            case "x" -> Mode.EXCLUSIVE;
            case "s" -> Mode.SHARED;
            default -> {
                Matcher some = PERMITS.matcher(kind);
                yield some.matches() ? permits(Integer.parseInt(some.group(1)), Integer.parseInt(some.group(2))) : null;
            }
        };
    }

    private static @Nullable Mode permits(int permits, int of) {
        return permits < 1 || permits > of ? null : new Mode.Permits(permits, of);
    }

    private static String kind(Mode mode) {
        if (mode instanceof Mode.Permits some) {
            return "p" + some.permits() + "of" + some.of();
        }
        return mode instanceof Mode.Shared ? "s" : "x";
    }
}
