package dev.holdfast.internal;

import java.lang.StackWalker.StackFrame;
import org.jspecify.annotations.Nullable;

/** The place in the caller's code that requested a lock: the first frame outside Holdfast. */
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
