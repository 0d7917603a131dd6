package dev.holdfast.internal;

import java.lang.StackWalker.StackFrame;
import org.jspecify.annotations.Nullable;

/**
 * Where in the caller's code a lock was asked for: the first frame that is not ours. A waiter and its hold share it, because
 * it is recorded after the claim was sent: walking the stack takes as long as a request does on a machine that was idle, and
 * meanwhile the store can answer. Thread-safe.
 */
final class CallSite {
    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final String OURS = "dev.holdfast.";
    private static final int DEPTH = 16;

    /** The place of a caller that is not one of the sample. */
    static final CallSite UNKNOWN = new CallSite();

    private volatile @Nullable StackTraceElement recorded;

    /**
     * Records it, unless it was recorded before; on the caller's thread. Never throws: the claim is sent already, and its
     * grant would belong to nobody if a thread at the end of its stack or memory left here.
     */
    void record() {
        if (recorded == null && this != UNKNOWN) {
            try {
                recorded = ofCaller();
            } catch (Throwable unknown) {
                // The report says that the place was not recorded.
            }
        }
    }

    boolean isRecorded() {
        return recorded != null;
    }

    /** The place, for a message. */
    String text() {
        StackTraceElement place = recorded;
        return place == null ? "at a place that was not recorded" : "at " + place;
    }

    static @Nullable StackTraceElement ofCaller() {
        return WALKER.walk(frames -> frames.limit(DEPTH)
                .filter(frame -> !isOurs(frame))
                .findFirst()
                .map(StackFrame::toStackTraceElement)
                .orElse(null));
    }

    private static boolean isOurs(StackFrame frame) {
        String type = frame.getClassName();
        return type.startsWith(OURS) && type.indexOf('.', OURS.length()) < 0
                || type.startsWith("dev.holdfast.internal.");
    }

    /**
     * Which callers of a client have their place in the code recorded: the first of every {@value #ONE_OF}, and each of the next
     * {@value #AFTER_A_REPORT} after a hold was leaked or a thread waited for itself. Walking the stack takes some 50 µs on a
     * machine that was idle, a third of the time in which a free lock is acquired; a caller that leaks holds does it more than
     * once. Netty looks for its leaked buffers in the same way. Thread-safe.
     */
    static final class Sample {
        /** A prime, so that a program that takes its locks in turn does not always miss the same one. */
        static final int ONE_OF = 17;

        static final int AFTER_A_REPORT = 1_024;

        // Updates that are lost only shift the sample.
        private int callers;
        private volatile int each;

        /** The place of the next caller: to be recorded if it is one of the sample, else unknown. */
        CallSite next() {
            int left = each;
            if (left > 0) {
                each = left - 1;
                return new CallSite();
            }
            return callers++ % ONE_OF == 0 ? new CallSite() : CallSite.UNKNOWN;
        }

        /** The next callers are all recorded: something was reported whose place matters. */
        void recordEach() {
            each = AFTER_A_REPORT;
        }
    }
}
