package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hold as the engine sees it: its token, its thread if it has one, and how it ended.
 *
 * <pre>
 *   OPEN ──close──► CLOSED
 *    └────loss────► LOST          whichever comes first; both final
 * </pre>
 *
 * <p>The engine refers to the caller's side, the {@link HoldHandle}, only weakly, and this object is that weak reference. When
 * no code can close the hold any more, the collector adds it to the engine's queue, and renewal stops. Thread-safe: it ends
 * under the mutex of its lock, and only the owning thread touches the counts of entries.
 */
final class HoldState extends WeakReference<HoldHandle> implements Runnable {
    /** How it ended; the loss is part of it, so that whoever sees the end sees the reason. */
    private record End(@Nullable Loss loss) {
        static final End CLOSED = new End(null);
    }

    final GrantState grant;
    final long token;
    final long since;
    final HoldOptions options;
    /** The thread that acquired it, for the warning of a thread that waits for itself; null when asynchronous. */
    final @Nullable Thread acquirer;
    /** The thread that it belongs to; null if any may close it. */
    final @Nullable Thread owner;
    /** Where it was acquired, for reports of leaks and self-deadlocks. */
    final CallSite site;
    /** The event for the flight recorder, written at the end; null if it was not running at the beginning. */
    final FlightEvents.@Nullable Held event;

    /** Null while it is open; it ends under the mutex. */
    private volatile @Nullable End end;

    private volatile @Nullable HoldHandle pinned;
    /** Whether it may outlive its thread, and all that refers to it. */
    volatile boolean detached;

    /** Reading the anchor prevents a leaked hold from being detected, so it is read only for callers who asked. */
    volatile boolean asksForWanted;

    private volatile @Nullable Consumer<Loss> lossAction;
    /** Whether its thread is parked until the hold in doubt is confirmed or lost: said before it looks, and after. */
    volatile boolean ownerAwaitsNews;

    private int exclusiveEntries;
    private int sharedEntries;

    /** @param made its caller's side, made for it */
    HoldState(HoldHandle made, GrantState grant, Waiter waiter, ReferenceQueue<HoldHandle> leaks, long since) {
        super(made, leaks);
        this.grant = grant;
        this.token = grant.nextToken();
        this.since = since;
        this.options = waiter.options;
        this.acquirer = waiter.thread;
        this.owner = options.reentrant() ? acquirer : null;
        this.site = waiter.site;
        enter(waiter.mode.kind());
        this.event = FlightEvents.areRecorded() ? FlightEvents.beginHold() : null;
        made.hold = this;
        this.pinned = made; // until the waiter has it in hand
    }

    /** Its client's engine. */
    Engine engine() {
        return grant.lock().engine;
    }

    /** The lock's name, by its client. */
    String name() {
        return grant.lock().name.name();
    }

    /** Where it was acquired, and by which thread, for people. */
    String origin() {
        Thread thread = acquirer;
        return site.text() + (thread == null ? "" : " by thread '" + thread.getName() + "'");
    }

    /** The caller's side, handed over to the caller: from now on only the caller keeps it, unless it is pinned. */
    HoldHandle handOut(boolean keepPinned) {
        HoldHandle handed = Objects.requireNonNull(pinned);
        if (!keepPinned) {
            pinned = null;
        }
        return handed;
    }

    /** The caller's side, if it is still there. */
    @Nullable
    HoldHandle anchor() {
        return get();
    }

    /** Keeps the caller's side as long as the engine keeps the hold. */
    void pin(@Nullable HoldHandle anchor) {
        pinned = anchor;
    }

    void unpin() {
        pinned = null;
    }

    boolean isOpen() {
        return end == null;
    }

    boolean isLost() {
        End now = end;
        return now != null && now.loss != null;
    }

    /** Marks it closed, where it is open; this cannot fail. Under the mutex. */
    void close() {
        end = End.CLOSED;
    }

    /**
     * Has the client's timer close it, whose thread has stack left when the caller's has none. This object is the task
     * itself: the stack may not have room to link a lambda or to load a class.
     */
    void closeLater() {
        engine().time.schedule(this, Duration.ZERO);
    }

    @Override
    public void run() {
        try {
            Effects.surely(() -> grant.lock().end(this, null));
        } catch (Throwable broken) {
            unpin(); // nobody closes it again: if it is still open, it is found leaked
            throw broken;
        }
    }

    /** Whether its thread has one entry only. */
    boolean isLastEntry() {
        return exclusiveEntries + sharedEntries == 1;
    }

    /** Whether its thread leaves its one exclusive entry, and has those of a reader besides. */
    boolean becomesReaderBy(LockMode as) {
        return as == LockMode.EXCLUSIVE && exclusiveEntries == 1 && sharedEntries > 0;
    }

    /** Marks it lost, where it is open, under the mutex; or where it was closed in good faith, and had been lost before. */
    void lose(Loss why) {
        end = new End(why);
    }

    /** Why it was lost, once it is. */
    Loss loss() {
        return Objects.requireNonNull(Objects.requireNonNull(end).loss);
    }

    HoldLostException lostException() {
        return new HoldLostException(loss());
    }

    /** Runs a short action at once when it is lost, on whatever thread finds that out; never under a mutex of ours. */
    void onLoss(Consumer<Loss> action) {
        lossAction = action;
        if (isLost()) {
            action.accept(loss());
        }
    }

    void tellLoss() {
        Consumer<Loss> action = lossAction;
        if (action != null) {
            action.accept(loss());
        }
    }

    /** Whether its caller asked to hear that others wait, and has not heard it yet. */
    boolean awaitsWanted() {
        HoldHandle handle = asksForWanted ? anchor() : null;
        return handle != null && handle.awaitsWanted();
    }

    /** Others wait for its lock. Notes that for its caller; may be called under a mutex. */
    void noteWanted() {
        HoldHandle handle = asksForWanted ? anchor() : null;
        if (handle != null) {
            handle.noteWanted();
        }
    }

    /** Whether it belongs to a thread. */
    boolean isThreadBound() {
        return owner != null;
    }

    boolean isOwnedBy(Thread thread) {
        return acquirer == thread;
    }

    /** Whether its thread has ended without leaving it, so that nobody can close it any more. */
    boolean isAbandonedByThread() {
        return !detached
                && owner != null
                && !owner.isAlive() // first: the counts are the thread's
                && exclusiveEntries + sharedEntries > 0;
    }

    /** It was confirmed or lost: its thread may be waiting to hear that. */
    void tellOwner() {
        if (ownerAwaitsNews) {
            LockSupport.unpark(acquirer);
        }
    }

    /** One more entry by the owning thread; an error, as in {@code ReentrantLock}, where an int counts no further. */
    void enter(LockMode as) {
        if (exclusiveEntries + sharedEntries == Integer.MAX_VALUE) {
            throw new Error("'" + name() + "' was entered " + Integer.MAX_VALUE
                    + " times by one thread: no more can be counted");
        }
        if (as == LockMode.SHARED) {
            sharedEntries++;
        } else {
            exclusiveEntries++;
        }
    }

    /** One entry less; whether none is left. An exclusive one that became a reader's is a shared one. */
    boolean exit(LockMode as) {
        if (as == LockMode.EXCLUSIVE && exclusiveEntries > 0) {
            exclusiveEntries--;
        } else if (sharedEntries > 0) { // else again, after an Error ended the first close half-way
            sharedEntries--;
        }
        return exclusiveEntries + sharedEntries == 0;
    }

    /** How many entries of this kind its thread has to leave. */
    int entries(LockMode as) {
        return as == LockMode.SHARED ? sharedEntries : exclusiveEntries;
    }

    /** Throws unless it has one exclusive entry, and only that. */
    void checkMayBecomeReader() {
        if (exclusiveEntries != 1) {
            throw new IllegalStateException("the hold of '" + name() + "' "
                    + (exclusiveEntries == 0
                            ? "is a reader's already"
                            : "was entered " + exclusiveEntries + " times: leave all entries but one first"));
        }
    }

    /** Its one exclusive entry is a reader's from now on. With its grant, so that the two never differ. */
    void becomeReader() {
        exclusiveEntries--;
        sharedEntries++;
    }
}
