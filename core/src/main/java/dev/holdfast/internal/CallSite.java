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
}
