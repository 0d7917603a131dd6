package dev.holdfast.bench.run;

/** What a thread of a round measures, in nanoseconds. */
public enum Timing {
    /** From the intended start of a turn to the lock, or to the answer that it cannot be acquired. */
    WAIT,
    /** From the call to the same: without the time for which the thread itself was late. */
    CALL,
    /** The waits of those who write among readers. */
    WRITER,
    /** From a release to the next holder in another process that was waiting. */
    HAND_OVER
}
