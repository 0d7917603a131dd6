package dev.holdfast.spring;

import dev.holdfast.Holding;
import dev.holdfast.LockMode;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a method body can ask about the locks that {@link HoldLock} acquired for the calling thread.
 *
 * <pre>{@code
 * void writeLedger() {
 *     Locks.assertHeld();        // also fails when a method was called on its own object, past the annotation
 *     ledger.write();
 * }
 * }</pre>
 *
 * <p>About the calling thread alone: in the callbacks of a future or a publisher there is nothing to ask.
 */
public final class Locks {
    private static final ThreadLocal<@Nullable Frame> FRAMES = new ThreadLocal<>();

    private Locks() {}

    /**
     * Checks that the thread is inside a method with {@link HoldLock}, and that the lock of the innermost one is surely
     * held.
     *
     * @throws IllegalStateException if it is not
     */
    public static void assertHeld() {
        Frame inner = FRAMES.get();
        if (inner == null) {
            throw new IllegalStateException("no lock is held here: call the method through its bean, so that its"
                    + " @HoldLock acquires the lock");
        }
        inner.check();
    }

    /**
     * Checks that the thread is inside a method with {@link HoldLock} of this name, and that the lock is surely held.
     *
     * @param name as evaluated, without the client's namespace
     * @throws IllegalStateException if it is not
     */
    public static void assertHeld(String name) {
        for (Frame frame = FRAMES.get(); frame != null; frame = frame.outer) {
            if (frame.request.names().contains(name)) {
                frame.check();
                return;
            }
        }
        throw new IllegalStateException("the lock '" + name + "' is not held here: call the method through its bean,"
                + " so that its @HoldLock acquires the lock");
    }

    /** What the innermost method with {@link HoldLock} on this thread holds. */
    public static Optional<Holding> current() {
        return Optional.ofNullable(FRAMES.get()).map(frame -> frame.holding);
    }

    /** Notes a hold for the calling thread, until {@link #leave}. */
    static void enter(Holding holding, LockRequest request) {
        FRAMES.set(new Frame(holding, request, FRAMES.get()));
    }

    static void leave() {
        Frame inner = FRAMES.get();
        if (inner == null || inner.outer == null) {
            FRAMES.remove();
        } else {
            FRAMES.set(inner.outer);
        }
    }

    /** Whether the thread would wait for a lock that it holds itself. */
    static boolean wouldWaitForItself(LockRequest request) {
        for (Frame frame = FRAMES.get(); frame != null; frame = frame.outer) {
            LockRequest held = frame.request;
            boolean conflicts = held.mode() == LockMode.EXCLUSIVE || request.mode() == LockMode.EXCLUSIVE;
            boolean enters = held.options().reentrant() && request.options().reentrant();
            if (conflicts
                    && !enters
                    && held.client().equals(request.client())
                    && held.names().stream().anyMatch(request.names()::contains)) {
                return true;
            }
        }
        return false;
    }

    private record Frame(
            Holding holding, LockRequest request, @Nullable Frame outer) {
        void check() {
            if (!holding.isValid()) {
                throw new IllegalStateException("the lock " + request.names()
                        + " is not surely held any more: stop, and do not" + " write without checking the token");
            }
        }
    }
}
