package dev.holdfast.internal;

import java.lang.StackWalker.StackFrame;
import org.jspecify.annotations.Nullable;

/** Where in the caller's code a lock was asked for: the first frame that is not ours. */
final class CallSite {
    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final String OURS = "dev.holdfast.";
    private static final int DEPTH = 16;

    private CallSite() {}

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
