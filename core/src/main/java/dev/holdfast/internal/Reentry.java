package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How a thread enters a hold that it has already, without the queue and without the store.
 *
 * <p>An entry states that the lock is held, so a hold in doubt is not entered: a caller that waits for the lock waits
 * until the store confirms the hold or reports its loss, and a caller that does not wait is refused. Only the one
 * thread that owns the hold can ever wait here; it is woken when the grant is confirmed or the hold ends.
 *
 * <pre>
 *   hold of this thread?  ─ none, or leaked ─► empty: like any other, through the queue
 *           │ valid ─► one entry more
 *           │ lost  ─► HoldLostException, until it was closed as often as entered, or dropped
 *           └ in doubt ─► park; confirmed ─► one entry more
 *                               lost ─► HoldLostException
 *                               time passed, or interrupted ─► as at any wait
 * </pre>
 */
final class Reentry {
    private final EngineContext context;
    private final HoldState held;
    private final HoldHandle anchor; // kept here, so that the hold is no leak while its thread waits
    private final LockMode as;
    private final boolean threadOwned;

    private Reentry(EngineContext context, HoldState held, HoldHandle anchor, LockMode as, boolean threadOwned) {
        this.context = context;
        this.held = held;
        this.anchor = anchor;
        this.as = as;
        this.threadOwned = threadOwned;
    }

    /**
     * The way into the hold that the calling thread has; null if it has none that it may enter. A hold that the thread
     * dropped without closing it does not count: it ends with its lease, and until then this thread waits like any
     * other.
     *
     * @throws HoldLostException if that hold is lost
     */
    static @Nullable Reentry of(EngineContext context, LockName name, HoldOptions options, boolean threadOwned) {
        if (!options.reentrant()) {
            return null;
        }
        HoldState held = heldByThisThread(context, name);
        if (held == null) {
            return null;
        }
        StackRoom.forStep(); // else the deepest entry of a recursion would find no room to leave
        context.throwIfClosed();
        HoldHandle anchor = held.anchor();
        if (anchor == null) {
            return null; // dropped at this moment
        }
        throwIfLost(context, held);
        return !held.isOpen()
                ? null
                : new Reentry(context, held, anchor, name.mode().kind(), threadOwned);
    }

    /** The hold that the calling thread owns and may enter so: a writer may read, a reader may not write. */
    static @Nullable HoldState heldByThisThread(EngineContext context, LockName name) {
        HoldState held = owned(context, name, name.mode().kind());
        return held == null && name.mode().kind() == LockMode.SHARED ? owned(context, name, LockMode.EXCLUSIVE) : held;
    }

    private static @Nullable HoldState owned(EngineContext context, LockName name, LockMode kind) {
        WaitQueue queue = context.locks.find(name.inStore(), kind);
        HoldState held = queue == null ? null : queue.holdOf(Thread.currentThread());
        if (held == null || held.anchor() != null) {
            return held;
        }
        held.grant.lock().forgetIfDropped(held); // its loss was reported, and no code is left that could close it
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
        Optional<HoldHandle> entered = now();
        if (entered.isPresent()) {
            return entered;
        }
        long since = context.time.nanoTime();
        long longest = wait == null ? Long.MAX_VALUE : Durations.nanos(wait);
        Thread thread = Thread.currentThread();
        Scheduled timeout = wait == null ? () -> {} : context.time.schedule(() -> LockSupport.unpark(thread), wait);
        boolean interrupted = false;
        held.awaitsNews(true);
        try {
            while (!isSure()) {
                if (context.time.nanoTime() - since >= longest) {
                    throwIfUnreachable(name);
                    return Optional.empty();
                }
                context.environment.parking().accept(held);
                interrupted |= Thread.interrupted();
                if (interrupted && interruptible) {
                    interrupted = false;
                    throw new InterruptedException();
                }
            }
            return Optional.of(enter());
        } finally {
            held.awaitsNews(false);
            timeout.cancel();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Throws if the store does not answer now; waits until that is known. */
    private void throwIfUnreachable(LockName name) {
        CompletableFuture<Void> proof = context.reachability.proof(name.inStore());
        context.environment.awaiting().accept(proof);
        Failures.await(proof, "could not enter '" + name + "' again");
    }

    private boolean isSure() {
        if (held.grant.isValid()) {
            return true;
        }
        throwIfLost(context, held);
        return false;
    }

    private static void throwIfLost(EngineContext context, HoldState held) {
        if (!held.grant.isValid()) {
            context.renewer.examine(held.grant);
        }
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
}
