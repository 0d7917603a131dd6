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
    private static final AtomicReferenceFieldUpdater<HoldHandle, WantedActions> WANTED_ACTIONS =
            AtomicReferenceFieldUpdater.newUpdater(HoldHandle.class, WantedActions.class, "wantedActions");

    /** The actions to run once when others wait. */
    private static final class WantedActions {
        final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
    }

    private final HoldState hold;
    private final Queue<Consumer<Loss>> lossActions = new ConcurrentLinkedQueue<>();
    /** Made when it is first needed: few holders ask whether others wait. */
    private volatile @Nullable WantedActions wantedActions;

    HoldHandle(HoldState hold) {
        this.hold = hold;
    }

    /** The lock's name, without namespace. */
    public String name() {
        return hold.name;
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
        context().examine(hold.grant);
        return false;
    }

    /** How long it is surely held without a renewal. */
    public Duration remaining() {
        return isValid() ? Duration.ofNanos(Math.max(0, hold.grant.remaining())) : Duration.ZERO;
    }

    /** How long ago it was acquired. */
    public Duration heldFor() {
        return Duration.ofNanos(context().nanoTime() - hold.since);
    }

    /** See {@link dev.holdfast.Hold#onLost}. */
    public void onLost(Consumer<Loss> action) {
        lossActions.add(action);
        if (hold.isLost()) {
            noteLoss();
            context().flush();
        }
    }

    /** Runs a short action at once when it is lost, before the {@link #onLost} actions run. */
    public void onLossAtOnce(Consumer<Loss> action) {
        hold.onLoss(action);
    }

    /** Runs each action once, on the listener thread. */
    void noteLoss() {
        for (Consumer<Loss> action = lossActions.poll(); action != null; action = lossActions.poll()) {
            context().note(hold.loss(), action);
        }
    }

    /** See {@link dev.holdfast.Hold#onWanted}. */
    public void onWanted(Runnable action) {
        Objects.requireNonNull(action, "action");
        hold.grant.owner().checkReportsWanted();
        if (wantedActions == null) {
            WANTED_ACTIONS.compareAndSet(this, null, new WantedActions());
        }
        Objects.requireNonNull(wantedActions).queue.add(action);
        hold.askForWanted();
        hold.grant.lock().watch(hold);
    }

    /** Has each action run once, on the listener thread; may be called under a mutex. */
    void noteWanted() {
        WantedActions asked = wantedActions;
        if (asked == null) {
            return;
        }
        for (Runnable action = asked.queue.poll(); action != null; action = asked.queue.poll()) {
            Runnable now = action;
            context().noteWanted(hold.name, () -> {
                if (hold.isOpen()) {
                    now.run();
                }
            });
        }
    }

    /** Whether an action waits for the report that others wait. */
    boolean awaitsWanted() {
        WantedActions asked = wantedActions;
        return asked != null && !asked.queue.isEmpty();
    }

    /** See {@link dev.holdfast.Hold#extend}. */
    public void extend(Duration lease) {
        HoldOptions checked = hold.options.lease(lease);
        if (checked.autoRenew()) {
            throw new IllegalStateException(
                    "the hold of '" + hold.name + "' is renewed by itself; extend is for holds with autoRenew(false)");
        }
        context().extend(hold, lease);
    }

    /** See {@link dev.holdfast.Hold#detach}. */
    public void detach() {
        hold.detach(this);
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
            context().examine(hold.grant);
            throw hold.isLost() ? hold.lostException() : hold.notOpenException();
        }
        hold.becomeReader();
    }

    /** Throws unless the calling thread may close the hold. */
    public void checkOwner() {
        if (hold.isThreadBound() && !hold.isOwnedBy(Thread.currentThread())) {
            throw new IllegalMonitorStateException("the re-entrant hold of '" + hold.name
                    + "' belongs to the thread that acquired it, not to " + Thread.currentThread());
        }
    }

    /** Closes one entry of a kind, and with the last one the hold; see {@link dev.holdfast.Hold#close}. */
    public void close(LockMode as) {
        if (!hold.isThreadBound()) { // which may have further entries: its last close pins it
            hold.pin(this); // until the store has answered: a loss found only then is still reported here
        }
        try {
            hold.grant.lock().close(hold, as);
        } catch (Error notBegun) {
            if (!hold.isThreadBound()) {
                hold.unpin(); // so that it is found to be leaked
            }
            throw notBegun;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Closes a hold that its caller never received, without waiting. */
    public void giveBack() {
        hold.pin(this);
        try {
            hold.grant.lock().giveBack(hold);
        } catch (Error notDone) {
            hold.unpin(); // so that it is found to be leaked
            throw notDone;
        }
    }

    HoldState hold() {
        return hold;
    }

    private EngineContext context() {
        return hold.grant.lock().context();
    }
}
