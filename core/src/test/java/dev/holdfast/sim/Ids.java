package dev.holdfast.sim;

import dev.holdfast.spi.ClaimId;

/** Ids that come from the dice's world instead of chance, and how a person reads them in a timeline. */
final class Ids {
    private static final int CLIENT_BITS = 32;

    private Ids() {}

    /** The id of the n-th claim of a client. */
    static ClaimId id(int client, int claim) {
        return new ClaimId(0, ((long) client << CLIENT_BITS) | claim);
    }

    static String of(ClaimId id) {
        long both = id.low();
        return "claim " + (both >>> CLIENT_BITS) + "." + (int) both;
    }

    /** A token as number and hand-over index, in few digits: the number is a server's microseconds. */
    static String token(long token) {
        return (token / 1024) % 1_000_000_000L + "/" + token % 1024;
    }
}
