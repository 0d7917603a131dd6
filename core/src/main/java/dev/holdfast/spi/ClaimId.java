package dev.holdfast.spi;

import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one claim: 128 random bits, written as 32 lower-case hexadecimal digits.
 *
 * <p>Every claim has its own; renewals and releases compare it, and nothing else, to decide whose a grant is. Thread,
 * process and host are kept for people to read and decide nothing: they are reused, and two machines may share them.
 *
 * @param value 32 lower-case hexadecimal digits
 */
public record ClaimId(String value) {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 16;

    public ClaimId {
        if (!isHex(value)) {
            throw new IllegalArgumentException("a claim id is 32 lower-case hexadecimal digits, not '" + value + "'");
        }
    }

    /** A fresh id that no other claim has. */
    public static ClaimId random() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return new ClaimId(HexFormat.of().formatHex(bytes));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ClaimId that && value.equals(that.value);
    }

    /** Written out, as each claim is a key of several maps: what a record does by itself is slow until it is compiled. */
    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return value;
    }

    /** A loop, as this is asked for each claim: in a JVM that has just started, a stream takes many times as long. */
    private static boolean isHex(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return value.length() == 2 * BYTES;
    }
}
