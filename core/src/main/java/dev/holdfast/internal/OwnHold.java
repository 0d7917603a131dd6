package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.LockMode;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a thread does that wants a lock that it has itself.
 *
 * <p>Where re-entry is asked for, it enters its hold without the queue and without the store. An entry states that the lock is
 * held, so a hold in doubt is not entered: a caller that waits for the lock waits until the store confirms the hold or reports
 * its loss, and a caller that does not wait is refused. Only the one thread that owns the hold can ever wait here; it is woken
 * when the grant is confirmed or the hold ends.
 *
 * <pre>
 *   hold of this thread?  ─ none, or leaked ─► empty: like any other, through the queue
 *           │ valid ─► one entry more
 *           │ lost  ─► HoldLostException, until it was closed as often as entered, or dropped
 *           └ in doubt ─► park; confirmed ─► one entry more
 *                               lost ─► HoldLostException
 *                               time passed, or interrupted ─► as at any wait
 * </pre>
 *
 * <p>Otherwise any other thread may close the hold, to which it may have been handed. So the thread waits as any other, and is
 * warned of in the log after a while. But a thread-bound hold can be closed by that thread alone. Where it reads and wants to
 * write, it would wait for itself; and of two readers that wanted to write, each would wait for the other, for ever. Such a
 * thread is refused immediately. As in {@link java.util.concurrent.locks.ReentrantReadWriteLock} there is no such upgrade; a
 * writer can become a reader without letting another writer in between.
 *
 * @param held the hold to be entered
 * @param anchor its caller's side, kept here, so that the hold is no leak while its thread waits
 * @param as the kind of entry
 * @param threadOwned whether its thread keeps it rather than a reference: {@code asLock()}
 */
record OwnHold(HoldState held, HoldHandle anchor, LockMode as, boolean threadOwned) {
    private static final Duration WARN_AFTER = Duration.ofSeconds(3);

    // ---- to be entered again ----

    /**
     * The hold that the calling thread has and may enter; null if it has none. A hold that the thread dropped without closing
     * it does not count: it ends with its lease, and until then this thread waits like any other.
     *
     * @throws HoldLostException if that hold is lost
     */
    static @Nullable OwnHold toEnter(Engine engine, LockName name, boolean threadOwned) {
        HoldState held = heldByThisThread(engine, name);
        if (held == null) {
            return null;
        }
        StackRoom.forStep(); // else the deepest entry of a recursion would find no room to leave
        engine.throwIfClosed();
        HoldHandle anchor = held.anchor();
        if (anchor == null) {
            return null; // dropped at this moment
        }
        throwIfLost(held);
        return held.isOpen() ? new OwnHold(held, anchor, name.mode().kind(), threadOwned) : null;
    }

    /** The hold that the calling thread owns and may enter so: a writer may read, a reader may not write. */
    static @Nullable HoldState heldByThisThread(Engine engine, LockName name) {
        HoldState held = owned(engine, name, name.mode().kind());
        return held == null && name.mode().kind() == LockMode.SHARED ? owned(engine, name, LockMode.EXCLUSIVE) : held;
    }

    private static @Nullable HoldState owned(Engine engine, LockName name, LockMode kind) {
        WaitQueue queue = engine.locks.find(name.inStore(), kind);
        HoldState held = queue == null ? null : queue.holdOf(Thread.currentThread());
        if (held == null || held.anchor() != null) {
            return held;
        }
        engine.renewer.examine(held.grant);
        if (held.isLost()) { // which was reported, and no code is left that could close it
            held.grant.owner.disown(held);
        }
        return null;
    }

    /** Enters if it is surely held now. */
    Optional<HoldHandle> now() {
        return isSure() ? Optional.of(enter()) : Optional.empty();
    }

    /**
     * Enters once it is surely held; empty if that does not happen in time.
     *
     * @param wait how long; null for ever
     * @param interruptible otherwise the interrupt flag is kept for later
     */
    Optional<HoldHandle> within(LockName name, @Nullable Duration wait, boolean interruptible)
            throws InterruptedException {
        if (isSure() || parkUntil(held, this::isSure, wait, interruptible)) {
            return Optional.of(enter());
        }
        CompletableFuture<Void> proof = held.engine().reachability.proof(name.inStore());
        held.engine().environment.awaiting().accept(proof);
        Failures.await(proof, "could not enter '" + name + "' again"); // throws if the store does not answer now
        return Optional.empty();
    }

    private boolean isSure() {
        if (held.grant.isValid()) {
            return true;
        }
        throwIfLost(held);
        return false;
    }

    private static void throwIfLost(HoldState held) {
        held.engine().renewer.examine(held.grant);
        if (held.isLost()) {
            throw held.lostException();
        }
    }

    private HoldHandle enter() {
        held.enter(as);
        if (threadOwned) {
            held.pin(anchor); // its thread keeps it from now on, whether or not any code refers to it
        }
        return anchor;
    }

    /** Parks the calling thread until something holds that news of its hold may bring; false if the time passed before. */
    private static boolean parkUntil(
            HoldState held, BooleanSupplier condition, @Nullable Duration wait, boolean interruptible)
            throws InterruptedException {
        Engine engine = held.engine();
        long since = engine.time.nanoTime();
        Thread thread = Thread.currentThread();
        Scheduled timeout = wait == null ? () -> {} : engine.time.schedule(() -> LockSupport.unpark(thread), wait);
        boolean interrupted = false;
        held.ownerAwaitsNews = true;
        try {
            while (!condition.getAsBoolean()) {
                if (wait != null && Durations.left(wait, since, engine.time).isZero()) {
                    return false;
                }
                engine.environment.parking().accept(held);
                interrupted |= Thread.interrupted();
                if (interrupted && interruptible) {
                    interrupted = false;
                    throw new InterruptedException();
                }
            }
            return true;
        } finally {
            held.ownerAwaitsNews = false;
            timeout.cancel();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- in its own way ----

    /** Warns, if a thread still waits after a while for a lock that it holds itself. On that thread. */
    static void watch(HoldState held, Waiter waiter) {
        Engine engine = held.engine();
        if (waiter.site == CallSite.UNKNOWN) {
            waiter.site = new CallSite();
        }
        waiter.site.record();
        engine.time.schedule(
                () -> {
                    if (held.isOpen() && waiter.outcome() == null) {
                        engine.callSites.recordEach();
                        Log.warn(() -> message(held, waiter, engine.store.description()));
                    }
                },
                WARN_AFTER);
    }

    private static String message(HoldState held, Waiter waiter, String store) {
        Thread thread = waiter.thread;
        boolean reads = held.grant.owner.name.mode().kind() == LockMode.SHARED;
        return "thread '" + (thread == null ? "?" : thread.getName()) + "' waits for '" + held.name() + "' on " + store
                + " " + waiter.site.text() + " while it holds it itself, acquired " + held.origin()
                + ": it waits for ever unless another thread closes that hold; "
                + (reads ? "close it before waiting" : "use reentrant(true) or asLock()");
    }

    /** The open hold by which the calling thread reads a name that it wants exclusively; null if it has none. */
    static @Nullable HoldState heldToRead(Engine engine, LockName name) {
        return name.mode().kind() == LockMode.EXCLUSIVE
                        && engine.locks.find(name.inStore(), LockMode.SHARED) instanceof SharedQueue readers
                ? readers.heldBy(Thread.currentThread())
                : null;
    }

    /**
     * Waits for a time without a place in the queue, as a thread does that would wait for itself: until the time has passed, the
     * client is closed, or the hold is lost.
     *
     * @param wait null where the thread is refused at once
     * @return how much of the time is left; zero when it has passed
     */
    static Duration waitInVain(HoldState reading, @Nullable Duration wait) throws InterruptedException {
        Engine engine = reading.engine();
        if (wait == null) {
            throw new IllegalStateException("this thread acquired '" + reading.name() + "' on "
                    + engine.store.description()
                    + " to read and would wait for itself to write: close that hold first, or acquire to write and"
                    + " downgrade");
        }
        long since = engine.time.nanoTime();
        BooleanSupplier ended = () -> {
            engine.throwIfClosed();
            return !reading.isOpen();
        };
        return parkUntil(reading, ended, wait, true) ? Durations.left(wait, since, engine.time) : Duration.ZERO;
    }
}
