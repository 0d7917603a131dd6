package dev.holdfast.internal;

/** What to say when a thread waits for a lock that it holds itself. */
final class SelfWait {
    private SelfWait() {}

    static String message(LiveHold held, Waiter waiter, String store) {
        Thread thread = waiter.thread;
        return "thread '" + (thread == null ? "?" : thread.getName()) + "' waits for '" + held.name + "' on " + store
                + " at " + waiter.place() + " while it holds it itself, acquired " + held.origin()
                + ": it waits for ever unless another thread closes that hold; use reentrant(true) or asLock()";
    }
}
