package dev.holdfast.flashsale.guard;

/** What became of an order. */
public enum Outcome {
    /** It is written. */
    SOLD,
    /** Fewer tickets are left. */
    SOLD_OUT,
    /** Its turn did not come in time; nothing was written. */
    TOO_BUSY;

    static Outcome of(boolean sold) {
        return sold ? SOLD : SOLD_OUT;
    }
}
