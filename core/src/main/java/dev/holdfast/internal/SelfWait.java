package dev.holdfast.internal;

import dev.holdfast.LockMode;

/** What to say when a thread waits for a lock that it holds itself. */
final class SelfWait {
    private SelfWait() {}

    static String message(HoldState held, Waiter waiter, String store) {
        Thread thread = waiter.thread;
        boolean reads = held.grant.queue().name().mode().kind() == LockMode.SHARED;
        return "thread '" + (thread == null ? "?" : thread.getName()) + "' waits for '" + held.name + "' on " + store
                + " at " + waiter.place() + " while it holds it itself, acquired " + held.origin()
                + ": it waits for ever unless another thread closes that hold; "
                + (reads ? "close it before waiting" : "use reentrant(true) or asLock()");
    }
}
