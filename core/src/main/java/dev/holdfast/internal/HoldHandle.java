package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The caller's side of a hold: all {@link dev.holdfast.Hold} objects of one hold share it, and the actions they register
 * hang on it, never on the engine's side. So it becomes unreachable exactly when no code can still close the hold, even
 * where a listener refers to its own hold. Thread-safe.
 */
public final class HoldHandle {
    private static final AtomicReferenceFieldUpdater<HoldHandle, Actions> ACTIONS =
            AtomicReferenceFieldUpdater.newUpdater(HoldHandle.class, Actions.class, "actions");

    /** The actions to run once. */
    private static final class Actions {
        final Queue<Consumer<Loss>> whenLost = new ConcurrentLinkedQueue<>();
        final Queue<Runnable> whenWanted = new ConcurrentLinkedQueue<>();
    }

    HoldState hold; // written as the two are made
    /** Made when they are first needed: most holders have none. */
    private volatile @Nullable Actions actions;

    @SuppressWarnings("NullAway.Init") // by the hold that refers to it, at once
    HoldHandle() {}

    /** The lock's name, without namespace. */
    public String name() {
        return hold.name();
    }

    /** The fencing token. */
    public long token() {
        return hold.token;
    }

    /** The claim id in the store. */
    public String id() {
        return hold.grant.grant().id().value();
    }

    /** Whether it is surely held; see {@link dev.holdfast.Hold#isValid()}. */
    public boolean isValid() {
        if (hold.isOpen() && hold.grant.isValid()) {
            return hold.isOpen();
        }
        StackRoom.forStep();
        hold.engine().renewer.examine(hold.grant);
        return false;
    }

    /** How long it is surely held without a renewal. */
    public Duration remaining() {
        return isValid() ? Duration.ofNanos(Math.max(0, hold.grant.remaining())) : Duration.ZERO;
    }

    /** How long ago it was acquired. */
    public Duration heldFor() {
        return Duration.ofNanos(hold.engine().time.nanoTime() - hold.since);
    }

    /** See {@link dev.holdfast.Hold#onLost}. */
    public void onLost(Consumer<Loss> action) {
        actions().whenLost.add(action);
        if (hold.isLost()) {
            noteLoss();
            hold.engine().telemetry.flush();
        }
    }

    /** Runs a short action at once when it is lost, before the {@link #onLost} actions run. */
    public void onLossAtOnce(Consumer<Loss> action) {
        hold.onLoss(action);
    }

    /** Runs each action once, on the listener thread. */
    void noteLoss() {
        Actions asked = actions;
        if (asked == null) {
            return;
        }
        for (Consumer<Loss> action = asked.whenLost.poll(); action != null; action = asked.whenLost.poll()) {
            hold.engine().dispatcher.note(hold.loss(), action);
        }
    }

    /** See {@link dev.holdfast.Hold#onWanted}. */
    public void onWanted(Runnable action) {
        Objects.requireNonNull(action, "action");
        hold.grant.owner.checkReportsWanted();
        actions().whenWanted.add(action);
        hold.asksForWanted = true;
        hold.grant.lock().watch(hold);
    }

    /** Has each action run once, on the listener thread; may be called under a mutex. */
    void noteWanted() {
        Actions asked = actions;
        if (asked == null) {
            return;
        }
        for (Runnable action = asked.whenWanted.poll(); action != null; action = asked.whenWanted.poll()) {
            Runnable now = action;
            hold.engine().dispatcher.noteWanted(hold.name(), () -> {
                if (hold.isOpen()) {
                    now.run();
                }
            });
        }
    }

    /** Whether an action waits for the report that others wait. */
    boolean awaitsWanted() {
        Actions asked = actions;
        return asked != null && !asked.whenWanted.isEmpty();
    }

    private Actions actions() {
        if (actions == null) {
            ACTIONS.compareAndSet(this, null, new Actions());
        }
        return Objects.requireNonNull(actions);
    }

    /** See {@link dev.holdfast.Hold#extend}. */
    public void extend(Duration lease) {
        HoldOptions checked = hold.options.lease(lease);
        if (checked.autoRenew()) {
            throw new IllegalStateException("the hold of '" + hold.name()
                    + "' is renewed by itself; extend is for holds with autoRenew(false)");
        }
        hold.engine().renewer.extend(hold, lease, hold.engine().environment.awaiting());
    }

    /** See {@link dev.holdfast.Hold#detach}. */
    public void detach() {
        hold.detached = true;
        hold.pin(this); // whether or not anybody refers to it
    }

    /**
     * Makes an exclusive hold a shared one.
     *
     * @throws HoldLostException if it is lost
     */
    public void downgrade() {
        checkOwner();
        StackRoom.forStep();
        hold.checkMayBecomeReader();
        if (!hold.grant.lock().downgrade(hold)) {
            hold.engine().renewer.examine(hold.grant);
            throw hold.isLost()
                    ? hold.lostException()
                    : new IllegalStateException(
                            "the hold of '" + name() + "' is closed, or not surely held at this moment");
        }
    }

    /** Throws unless the calling thread may close the hold. */
    public void checkOwner() {
        if (hold.isThreadBound() && !hold.isOwnedBy(Thread.currentThread())) {
            throw new IllegalMonitorStateException("the re-entrant hold of '" + hold.name()
                    + "' belongs to the thread that acquired it, not to " + Thread.currentThread());
        }
    }

    /** Closes one entry of a kind, and with the last one the hold; see {@link dev.holdfast.Hold#close}. */
    public void close(LockMode as) {
        if (!hold.isThreadBound()) { // which may have further entries: its last close pins it
            StackRoom.forCall(); // what could not be unpinned would never be found leaked
            hold.pin(this); // until the store has answered: a loss found only then is still reported here
        }
        try {
            hold.grant.lock().close(hold, as);
        } catch (RuntimeException | Error notBegun) {
            if (!hold.isThreadBound()) {
                unpinAfter(notBegun);
            }
            throw notBegun;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes a hold that its caller never received, without waiting. */
    public void giveBack() {
        StackRoom.forCall();
        hold.pin(this);
        try {
            hold.grant.lock().end(hold, null);
        } catch (RuntimeException | Error notDone) {
            unpinAfter(notDone);
            throw notDone;
        }
    }

    /** A hold that is still open after a close that has failed is to be found leaked. */
    private void unpinAfter(Throwable broken) {
        if (broken instanceof Error || hold.isOpen()) {
            hold.unpin();
        }
    }
}
