package dev.holdfast.internal;

import dev.holdfast.LockMode;
import java.time.Duration;
import java.util.stream.Stream;

/** A thread that waits for a lock that it holds itself: it is warned of in the log. */
final class SelfWait {
    private static final Duration WARN_AFTER = Duration.ofSeconds(3);

    private SelfWait() {}

    /** As {@link #watch}, if one of these holds is of the thread that waits. */
    static void watchIfItsOwn(EngineContext context, Stream<HoldState> holds, Waiter waiter) {
        Thread thread = waiter.thread;
        if (thread != null) {
            holds.filter(held -> held.isOwnedBy(thread)).findFirst().ifPresent(held -> watch(context, held, waiter));
        }
    }

    /** Warns, if a thread still waits after a while for a lock that it holds itself. On that thread. */
    static void watch(EngineContext context, HoldState held, Waiter waiter) {
        if (waiter.site == CallSite.UNKNOWN) {
            waiter.site = new CallSite();
        }
        waiter.site.record();
        context.time
                .schedule(
                        () -> {
                            if (held.isOpen() && waiter.outcome() == null) {
                                context.callSites.recordEach();
                                Log.warn(() -> message(held, waiter, context.description()));
                            }
                        },
                        WARN_AFTER);
    }

    private static String message(HoldState held, Waiter waiter, String store) {
        Thread thread = waiter.thread;
        boolean reads = held.grant.owner().name.mode().kind() == LockMode.SHARED;
        return "thread '" + (thread == null ? "?" : thread.getName()) + "' waits for '" + held.name() + "' on " + store
                + " " + waiter.site.text() + " while it holds it itself, acquired " + held.origin()
                + ": it waits for ever unless another thread closes that hold; "
                + (reads ? "close it before waiting" : "use reentrant(true) or asLock()");
    }
}
