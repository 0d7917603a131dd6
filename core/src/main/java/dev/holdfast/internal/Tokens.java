package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * The fencing tokens under one grant number: the number × 1024 + the index of the hold. The store makes each grant number higher
 * than all before it; the index distinguishes, in order, the holds that shared a grant by local hand-over. Counts them, and
 * how long that may go on without another answer of the store. Guarded by the mutex of the grant's lock.
 */
final class Tokens {
    /** How many holds one grant number can distinguish. */
    static final int BLOCK = 1024;

    private static final long LARGEST_NUMBER = Long.MAX_VALUE / BLOCK - 1;

    private final TimeSource time;
    private int used;
    private @Nullable HoldState lastHold;
    private long since;

    Tokens(TimeSource time) {
        this.time = time;
        this.since = time.nanoTime();
    }

    /** The token of the next hold under a grant number. */
    long next(long number) {
        return token(number, used);
    }

    /** Whether the bounds of hand-over allow one more under the present grant number, without asking the store. */
    boolean mayHandOver(HoldOptions options) {
        return suffices(options) && time.nanoTime() - since <= Durations.nanos(options.maxHandOverTime());
    }

    /** Whether a waiter with these options may have a hold under the present grant number. */
    boolean suffices(HoldOptions options) {
        return used == 0 || (!options.strictFifo() && used <= options.maxHandOvers());
    }

    /** Begins a new block: the store gave a fresh grant number. */
    void renew() {
        used = 0;
        since = time.nanoTime();
    }

    /** A hold was given out: its token is used up. */
    void given(HoldState hold) {
        used++;
        lastHold = hold;
    }

    /** The hold given out last was not taken: its token is free for the next, and the one before it is the last. */
    void notTaken(@Nullable HoldState before) {
        used--;
        lastHold = before;
    }

    /** Whether no hold was given out under the present grant number yet. */
    boolean isFresh() {
        return used == 0 && lastHold == null;
    }

    /** Whether one more hold can be distinguished from those that had it exclusively under the present grant number. */
    boolean hasTokenLeft() {
        return used < BLOCK;
    }

    /** The last hold that began or ended, of holds beside each other, which share a token; null if there was none. */
    void lastBeside(@Nullable HoldState hold) {
        lastHold = hold;
    }

    /** The hold that was given out last, or of several beside each other the one closed last; null if there was none. */
    @Nullable
    HoldState lastHold() {
        return lastHold;
    }

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
