package dev.holdfast.internal;

/**
 * The fencing tokens under one grant number: the number × 1024 + the index of the hold. The store makes each grant number higher
 * than all before it; the index distinguishes, in order, the holds that shared a grant by local hand-over.
 */
final class Tokens {
    /** How many holds one grant number can distinguish. */
    static final int BLOCK = 1024;

    private static final long LARGEST_NUMBER = Long.MAX_VALUE / BLOCK - 1;

    private Tokens() {}

    /** Whether tokens can be made from a grant number. */
    static boolean isNumber(long number) {
        return number >= 1 && number <= LARGEST_NUMBER;
    }

    static long token(long number, int index) {
        if (!isNumber(number)) {
            throw new IllegalStateException("no token can be made from grant number " + number);
        }
        if (index < 0 || index >= BLOCK) {
            throw new IllegalStateException("hand-over index " + index + " does not fit in a block of " + BLOCK);
        }
        return number * BLOCK + index;
    }

    /** The number of the grant that a token belongs to. */
    static long number(long token) {
        return token / BLOCK;
    }
}
