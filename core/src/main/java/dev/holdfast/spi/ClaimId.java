package dev.holdfast.spi;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one claim: 128 random bits, written as 32 lower-case hexadecimal digits.
 *
 * <p>Every claim has its own; renewals and releases compare it, and nothing else, to decide whose a grant is. Thread,
 * process and host are kept for people to read and decide nothing: they are reused, and two machines may share them.
 *
 * <p>Kept as numbers, in a third of the memory of its text: a client may hold a hundred thousand locks.
 *
 * @param high the first 64 bits
 * @param low the last 64 bits
 */
public record ClaimId(long high, long low) {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final HexFormat HEX = HexFormat.of();
    private static final int DIGITS = 16;

    /** A fresh id that no other claim has. */
    public static ClaimId random() {
        byte[] bytes = new byte[2 * Long.BYTES];
        RANDOM.nextBytes(bytes); // all at once: each call is a lock
        ByteBuffer both = ByteBuffer.wrap(bytes);
        return new ClaimId(both.getLong(), both.getLong());
    }

    /**
     * An id by its text.
     *
     * @param value 32 lower-case hexadecimal digits
     * @throws IllegalArgumentException if it is anything else
     */
    public static ClaimId of(String value) {
        if (!isId(value)) {
            throw new IllegalArgumentException("a claim id is 32 lower-case hexadecimal digits, not '" + value + "'");
        }
        return new ClaimId(
                HexFormat.fromHexDigitsToLong(value, 0, DIGITS),
                HexFormat.fromHexDigitsToLong(value, DIGITS, 2 * DIGITS));
    }

    /** 32 lower-case hexadecimal digits. */
    public String value() {
        return HEX.toHexDigits(high) + HEX.toHexDigits(low);
    }

    /** Written out, as each claim is a key of several maps: what a record does by itself is slow until it is compiled. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ClaimId that && low == that.low && high == that.high;
    }

    @Override
    public int hashCode() {
        return (int) (low ^ low >>> 32);
    }

    @Override
    public String toString() {
        return value();
    }

    /** Whether a text is an id. */
    public static boolean isId(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return value.length() == 2 * DIGITS;
    }
}
