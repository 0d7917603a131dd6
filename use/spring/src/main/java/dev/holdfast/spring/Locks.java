package dev.holdfast.spring;

import dev.holdfast.Holding;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
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
     * Checks that the thread is inside a method with {@link HoldLock}, {@link Once} or {@link LeaderOnly}, and that the
     * lock of the innermost one is surely held. If that method was called on its own object, past its annotation, the lock
     * of another one around it does not count, unless both are written with the same constant name. A method that calls
     * itself so is not told apart: ask for the name then.
     *
     * @throws IllegalStateException if it is not
     */
    public static void assertHeld() {
        Frame inner = FRAMES.get();
        if (inner == null) {
            throw new IllegalStateException("no lock is held here: call the method through its bean, so that its"
                    + " @HoldLock acquires the lock");
        }
        Method past = OwnCalls.innermost(inner.method);
        if (past != null) {
            throw new IllegalStateException("the lock of " + Methods.title(past) + " is not held here, only "
                    + inner.names
                    + " of " + Methods.title(inner.method) + ": the method was called on its own object, past its"
                    + " annotation; call it through its bean, or ask for the lock by assertHeld(name)");
        }
        inner.check();
    }

    /**
     * Checks that the thread is inside a method that holds the lock of this name, and that the lock is surely held.
     *
     * @param name as evaluated, without the client's namespace
     * @throws IllegalStateException if it is not
     */
    public static void assertHeld(String name) {
        for (Frame frame = FRAMES.get(); frame != null; frame = frame.outer) {
            if (frame.names.contains(name)) {
                frame.check();
                return;
            }
        }
        throw new IllegalStateException("the lock '" + name + "' is not held here: call the method through its bean,"
                + " so that its @HoldLock acquires the lock");
    }

    /** What the innermost method with {@link HoldLock} on this thread holds. */
    public static Optional<Holding> current() {
        Frame frame = FRAMES.get();
        while (frame != null && frame.holding == null) {
            frame = frame.outer;
        }
        return Optional.ofNullable(frame).map(inner -> inner.holding);
    }

    /** Notes a hold for the calling thread, until {@link #leave}. */
    static void enter(Method method, Holding holding, LockRequest request) {
        FRAMES.set(new Frame(
                method,
                holding,
                holding::isValid,
                request.with(),
                request.names(),
                request.mode(),
                request.options().reentrant(),
                FRAMES.get()));
    }

    /** The same for the lock of a turn or a term, which the body cannot close. */
    static void enter(Method method, BooleanSupplier isValid, String name, LockClient client) {
        FRAMES.set(new Frame(method, null, isValid, client, List.of(name), LockMode.EXCLUSIVE, false, FRAMES.get()));
    }

    static void leave() {
        Frame inner = FRAMES.get();
        if (inner == null || inner.outer == null) {
            FRAMES.remove();
        } else {
            FRAMES.set(inner.outer);
        }
    }

    /** Whether a method around the call holds the lock of this name. */
    static boolean isHeld(String name, LockClient client) {
        for (Frame frame = FRAMES.get(); frame != null; frame = frame.outer) {
            if (frame.client.equals(client) && frame.names.contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the thread would wait for a lock that it holds itself. */
    static boolean wouldWaitForItself(LockRequest request) {
        int permits = 0;
        for (Frame frame = FRAMES.get(); frame != null; frame = frame.outer) {
            if (!frame.client.equals(request.with())
                    || frame.names.stream().noneMatch(request.names()::contains)
                    || frame.enterable && request.options().reentrant()) {
                continue;
            }
            if (frame.mode == LockMode.EXCLUSIVE || request.mode() == LockMode.EXCLUSIVE) {
                return true;
            }
            if (frame.mode == LockMode.PERMITS && ++permits == request.permits()) {
                return true;
            }
        }
        return false;
    }

    /**
     * What one method holds on this thread.
     *
     * @param method that
     * @param holding null for a turn or a term
     * @param isValid whether it is surely held
     * @param client where
     * @param names of its locks
     * @param mode how
     * @param enterable whether the thread may acquire it again
     * @param outer what a method further out holds
     */
    private record Frame(
            Method method,
            @Nullable Holding holding,
            BooleanSupplier isValid,
            LockClient client,
            List<String> names,
            LockMode mode,
            boolean enterable,
            @Nullable Frame outer) {
        void check() {
            if (!isValid.getAsBoolean()) {
                throw new IllegalStateException("the lock " + names
                        + " may no longer be held: stop, and write only where the token is checked");
            }
        }
    }
}
