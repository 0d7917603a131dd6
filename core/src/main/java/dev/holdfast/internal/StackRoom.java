package dev.holdfast.internal;

/**
 * Whether the calling thread has stack left for what it is about to do. An overflow in the middle of a step would leave
 * a lock, or a queue of the JDK, between two states; one here, before anything has changed, leaves nothing. The check
 * is made where callers enter, at any depth: a {@code finally} that closes a hold may run where a recursion overflowed.
 * Code that runs there for the first time needs more, to be loaded and linked: that is not reserved.
 */
public final class StackRoom {
    private static final int STEP = 256;
    private static final int TASK = 64;
    private static final int CALL = 16;

    private StackRoom() {}

    /**
     * For a step of a queue and what follows it.
     *
     * @throws StackOverflowError if it is not there
     */
    public static void forStep() {
        below(STEP, 1, 2, 3, 4);
    }

    /** For planning a task, which needs less; as {@link #forStep()}. */
    static void forTask() {
        below(TASK, 1, 2, 3, 4);
    }

    /** For a few calls, also of what has never run before; as {@link #forStep()}. */
    static void forCall() {
        below(CALL, 1, 2, 3, 4);
    }

    /** The arguments make a frame about as large as those of the engine; what is left to do needs each of them. */
    private static long below(int frames, long a, long b, long c, long d) {
        return frames == 0 ? a : below(frames - 1, b, c, d, a) + (a | b | c | d);
    }
}
