package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.HoldHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;

/**
 * A lock that is held. Close it in a try statement, so that the next waiter can acquire it:
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire()) {
 *     orders.charge(42, hold.token());
 * }
 * }</pre>
 *
 * <p>An open hold is renewed while it is reachable. It can nevertheless be lost: the process may be stopped for longer
 * than the lease, or the store may be out of reach. Then the actions of {@link #onLost} run, {@link #isValid()} is false
 * before another client can hold the lock, and {@link #close()} throws. Between two checks of {@code isValid()} a
 * process can still be stopped; only a resource that checks the {@link #token()} is safe from that.
 *
 * <p>Thread-safe: any thread may close it, except where {@link HoldOptions#reentrant()} binds it to its thread.
 */
public final class Hold implements Holding {
    private static final AtomicIntegerFieldUpdater<Hold> CLOSED =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "closed");

    private final HoldHandle anchor;
    private final LockMode as;
    /** 1 once it is closed. */
    private volatile int closed;

    Hold(HoldHandle anchor, LockMode as) {
        this.anchor = anchor;
        this.as = as;
    }

    /** The lock's name. */
    public String name() {
        return anchor.name();
    }

    /**
     * The fencing token: fixed for the life of this hold, and greater than that of every earlier hold of this lock that
     * it conflicts with, over the life of the store; readers of one client may have the same. Positive.
     */
    public long token() {
        return anchor.token();
    }

    /** The random id by which the store knows this hold's grant. */
    public String id() {
        return anchor.id();
    }

    /** Whether the lock is surely held right now: false once closed, lost or in doubt. Sends no request; cheap. */
    @Override
    public boolean isValid() {
        return closed == 0 && anchor.isValid();
    }

    /** How long it stays valid if no renewal succeeds; zero when it is not valid. */
    @Override
    public Duration remaining() {
        return closed != 0 ? Duration.ZERO : anchor.remaining();
    }

    /**
     * How long ago it was acquired, by this machine's monotonic clock; a re-entrant hold counts from its first entry. It
     * counts on after the close or the loss.
     */
    @Override
    public Duration heldFor() {
        return anchor.heldFor();
    }

    /**
     * Runs an action once when this hold is lost, on the client's listener thread. If the hold is already lost, the action
     * runs immediately. Actions of one client run one after another: keep them short.
     *
     * <p>The action does not run if the hold is closed in time. There is one exception: if the store loses a
     * {@linkplain HoldOptions#retain retained} lock, it may be unknown whether the last hold was closed before that. The
     * loss of that hold is then reported, unless the store has confirmed the lock since the close.
     */
    @Override
    public void onLost(Consumer<Loss> action) {
        anchor.onLost(action);
    }

    /**
     * Runs an action once when another client, or another caller of this one, waits for this lock, so that a long holder can
     * finish early; immediately if one waits already. It runs on the client's listener thread, one action after another:
     * keep it short. It does not run after the hold is closed or lost, or after a downgrade.
     *
     * <pre>{@code
     * AtomicBoolean wanted = new AtomicBoolean();
     * try (Hold hold = lock.acquire()) {
     *     hold.onWanted(() -> wanted.set(true));
     *     while (!wanted.get() && backlog.hasMore()) {
     *         backlog.processNext();
     *     }
     * }
     * }</pre>
     *
     * <p>{@link Capabilities#wanted()} says how soon the store reports a waiter. If a message is lost, the next renewal
     * reports it, after a third of the lease at most. The waiter may give up before the action runs. A
     * {@link DistributedLock#tryAcquire()} does not wait and is not reported. The first call for a grant sends one request,
     * and does not wait for the answer.
     *
     * @throws IllegalStateException if the hold is a reader's or of permits, or is closed
     * @throws UnsupportedByStoreException if the store does not {@link Capabilities#wanted() report} it
     */
    public void onWanted(Runnable action) {
        if (closed != 0) {
            throw new IllegalStateException("the hold of '" + name() + "' is closed");
        }
        anchor.onWanted(action);
    }

    /**
     * Renews a hold without {@link HoldOptions#autoRenew()} for another lease, counted from now; waits for the store.
     *
     * @param lease the new lease, 100 ms to 7 days
     * @throws HoldLostException if the hold is lost, or turns out to be
     * @throws StoreUnavailableException if the store did not answer: the shorter of the old lease and the new one counts.
     *     The request may still arrive, after later ones; so a later extension counts for no longer than this one
     *     requested
     * @throws IllegalStateException if the hold is renewed automatically, or closed
     */
    @Override
    public void extend(Duration lease) {
        if (closed != 0) {
            throw new IllegalStateException("the hold of '" + name() + "' is closed");
        }
        anchor.extend(lease);
    }

    /**
     * Keeps the hold for the life of the process: it is renewed even when no code refers to it, and is not reported as
     * a leak. It ends when it is closed, lost, or the client is closed.
     */
    @Override
    public void detach() {
        anchor.detach();
    }

    /**
     * Releases the lock, or hands it to the next waiter of this client. Does not wait for the store unless
     * {@link HoldOptions#awaitRelease()} says so. Closing twice does nothing.
     *
     * @throws HoldLostException once, if the hold was lost before
     * @throws IllegalMonitorStateException if the hold is re-entrant and belongs to another thread; it stays open
     */
    @Override
    public void close() {
        anchor.checkOwner();
        if (CLOSED.compareAndSet(this, 0, 1)) {
            try {
                anchor.close(as);
            } catch (Error notBegun) {
                closed = 0;
                throw notBegun;
            }
        }
    }

    /** Runs a short action immediately when it is lost, on the thread that detects the loss. */
    void onLossAtOnce(Consumer<Loss> action) {
        anchor.onLossAtOnce(action);
    }

    /** Closes it for a caller that never received it: waits for nothing, and reports no loss. */
    void giveBack() {
        if (CLOSED.compareAndSet(this, 0, 1)) {
            anchor.giveBack();
        }
    }

    void checkOwner() {
        anchor.checkOwner();
    }

    boolean belongsTo(Engine engine) {
        return engine.owns(anchor);
    }

    void downgrade() {
        if (closed != 0) {
            throw new IllegalStateException("the hold of '" + name() + "' is closed");
        }
        anchor.downgrade();
    }

    @Override
    public String toString() {
        return "Hold[" + name() + ", token " + token() + (isValid() ? "]" : ", not valid]");
    }
}
