package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One grant of a {@link SharedQueue} and the open holds by it: many of readers, one at a time of permits. Guarded by the
 * pool's mutex.
 */
final class SharedGrant {
    final GrantState grant;
    private final SharedQueue pool;
    private final boolean shared;
    private final Set<HoldState> holds = new LinkedHashSet<>();
    /** Those of the holds that are renewed no more: the grant is, until none but these are left. */
    private final Set<HoldState> stopped = new LinkedHashSet<>();

    private Loss.@Nullable Cause whyStopped;
    /** By {@code nanoTime}: since when readers join without another word from the store. */
    private long openedAt;
    /** The store is being asked whether anybody else waits. */
    private boolean asking;
    /** Its way back is planned, once: whoever comes before the store sends may still have it. */
    private boolean lingering;

    SharedGrant(SharedQueue pool, GrantState grant) {
        this.pool = pool;
        this.grant = grant;
        this.shared = pool.name().mode().kind() == LockMode.SHARED;
        this.openedAt = now();
    }

    /** Whether nobody has a hold by it. */
    boolean isFree() {
        return holds.isEmpty();
    }

    List<HoldState> holds() {
        return List.copyOf(holds);
    }

    /** Whether it can serve this waiter without another word from the store: the first after it was given always. */
    boolean suits(Waiter waiter) {
        boolean asMany = shared || grant.grant().mode().equals(waiter.mode);
        return asMany
                && stopped.isEmpty()
                && grant.isValid()
                && grant.fits(waiter.options)
                && (grant.tokens().isFresh() || (grant.hasEnoughLease() && hasRoomFor(waiter.options)));
    }

    private boolean hasRoomFor(HoldOptions options) {
        return shared ? mayJoin(options) : isFree() && grant.tokens().mayHandOver(options);
    }

    /**
     * Whether one more reader may come in beside the others, or after them. Who renews by hand has nobody beside him:
     * he may make his lease shorter.
     */
    private boolean mayJoin(HoldOptions options) {
        return (isFree() || options.autoRenew())
                && !options.strictFifo()
                && grant.tokens().hasTokenLeft()
                && now() - openedAt <= Durations.nanos(options.maxHandOverTime());
    }

    /** Whether to ask by now if anybody else waits, so that the answer is there before readers may join no more. */
    boolean isTimeToAsk(HoldOptions options) {
        boolean time = !asking && now() - openedAt > Durations.nanos(options.maxHandOverTime()) / 2;
        asking |= time;
        return time;
    }

    /** The store has said whether anybody else waits. */
    void heard(boolean alone) {
        asking = false;
        if (alone) {
            openedAt = now();
        }
    }

    /** Nobody has a hold by it, and it goes back when the store sends next; false if that is planned already. */
    boolean linger() {
        boolean planned = lingering;
        lingering = true;
        return !planned;
    }

    /** The store sends. */
    void endLinger() {
        lingering = false;
    }

    /** Gives a hold by it to a waiter; empty if its outcome was set before. */
    Optional<Runnable> enter(Waiter taker) {
        EngineContext context = pool.context();
        HoldState before = grant.tokens().lastHold();
        HoldState made = pool.newHold(grant, taker);
        HoldHandle anchor = made.handOut(taker.threadOwned);
        Thread owner = made.isThreadBound() ? taker.thread : null;
        holds.add(made);
        if (shared) {
            grant.tokens().lastBeside(made);
        } else {
            grant.tokens().given(made);
        }
        if (owner != null) {
            pool.own(owner, made);
        }
        // Last: from here on the taker may close the hold, and everything must be in its place by then.
        if (taker.resolve(new Waiter.Outcome.Granted(anchor))) {
            context.telemetry().acquired(made, taker);
            return Optional.of(taker::wake);
        }
        if (owner != null) {
            pool.forgetOwner(owner, made);
        }
        holds.remove(made);
        if (shared) {
            grant.tokens().lastBeside(before);
        } else {
            grant.tokens().notTaken(before);
        }
        return Optional.empty();
    }

    /** Takes the hold of a writer in who is content to read. */
    void adopt(HoldState reading) {
        holds.add(reading);
        if (reading.isThreadBound() && reading.acquirer != null) {
            pool.own(reading.acquirer, reading);
        }
    }

    /** A hold was closed. */
    void leave(HoldState closed) {
        holds.remove(closed);
        stopped.remove(closed);
        if (shared) {
            grant.tokens().lastBeside(closed);
        }
        stopIfNobodyElseHolds();
    }

    /**
     * A hold is renewed no more. Others may hold by this grant: it goes on for them, takes nobody in, and runs out once
     * only such holds are left.
     */
    boolean stopFor(HoldState hold, Loss.Cause cause) {
        if (!holds.contains(hold) || !stopped.add(hold)) {
            return false;
        }
        whyStopped = cause;
        stopIfNobodyElseHolds();
        return true;
    }

    private void stopIfNobodyElseHolds() {
        Loss.Cause why = whyStopped;
        if (why != null && !stopped.isEmpty() && stopped.containsAll(holds)) {
            grant.stopRenewal(why);
        }
    }

    private long now() {
        return pool.context().time().nanoTime();
    }
}
