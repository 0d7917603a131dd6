package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.ClientStatistics;
import dev.holdfast.LockEvent.Acquired;
import dev.holdfast.LockEvent.Leaked;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockEvent.ReleaseFailed;
import dev.holdfast.LockEvent.Released;
import dev.holdfast.LockEvent.RenewalFailed;
import dev.holdfast.LockEvent.Renewed;
import dev.holdfast.LockEvent.Suspect;
import dev.holdfast.LockEvent.Waiting;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.StoreEvent;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells the outside what happens to locks: figures, listeners, flight recorder, log.
 *
 * <p>What changes who holds or waits has two halves. The first counts and notes the event for the listeners; it neither
 * waits nor calls other code, and is called under the local lock's mutex, so that events of a lock are reported in the order in
 * which they happened. The second ({@code record…}) writes to the flight recorder and the log, after the mutex is free.
 * Whoever is not under a mutex does both at once. With nobody listening and nothing recorded, a hold costs some additions
 * and one reading of the clock. Thread-safe.
 */
final class Telemetry {
    private final EventDispatcher dispatcher;
    private final TimeSource time;
    private final String store;
    private final CallSite.Sample callSites;
    private final AtomicBoolean saidNotRetained = new AtomicBoolean();

    // Adding to one costs some nanoseconds, also from many threads, and only reading sums up.
    private final LongAdder waits = new LongAdder();
    private final LongAdder endedWaits = new LongAdder();
    private final LongAdder waitNanos = new LongAdder();
    private final LongAdder acquisitions = new LongAdder();
    private final LongAdder handOvers = new LongAdder();
    private final LongAdder holdNanos = new LongAdder();
    private final LongAdder releases = new LongAdder();
    private final LongAdder failedReleases = new LongAdder();
    private final LongAdder lateLosses = new LongAdder();
    private final LongAdder leaks = new LongAdder();
    private final LongAdder suspects = new LongAdder();
    private final LongAdder renewals = new LongAdder();
    private final LongAdder failedRenewals = new LongAdder();
    final LongAdder claims = new LongAdder();
    final LongAdder storeCalls = new LongAdder();
    final LongAdder failedStoreCalls = new LongAdder();
    final LongAdder storeNanos = new LongAdder();
    private final Map<NotAcquired.Reason, LongAdder> notAcquired = adders(NotAcquired.Reason.class);
    private final Map<Loss.Cause, LongAdder> losses = adders(Loss.Cause.class);

    Telemetry(EventDispatcher dispatcher, TimeSource time, String store, CallSite.Sample callSites) {
        this.dispatcher = dispatcher;
        this.time = time;
        this.store = store;
        this.callSites = callSites;
    }

    /** Passes on to the listeners what was noted under a mutex, after it. Never throws. */
    void flush() {
        dispatcher.hurry();
    }

    // ---- waits ----

    /** A caller is about to join the queue; on its thread. */
    void waiting(LockName name, Waiter waiter) {
        if (!waiter.waits) {
            return;
        }
        waits.increment();
        if (FlightEvents.areRecorded()) {
            waiter.event = FlightEvents.beginWait();
        }
        if (dispatcher.hasListeners()) {
            dispatcher.note(new Waiting(name.name(), store), LockListener::onWaiting);
            flush();
        }
    }

    /** A caller's outcome was set; under the mutex. */
    void resolved(LockName name, Waiter waiter, Object outcome) {
        if (outcome instanceof HoldHandle granted) {
            acquired(granted.hold, waiter);
        } else {
            NotAcquired.Reason ifEmpty = waiter.waits ? NotAcquired.Reason.TIMED_OUT : NotAcquired.Reason.TAKEN;
            notAcquired(name, waiter, reason(outcome, ifEmpty));
        }
    }

    /** A caller's outcome was set, and it is no hold. May be called under a mutex. */
    void notAcquired(LockName name, Waiter waiter, NotAcquired.Reason reason) {
        long waited = time.nanoTime() - waiter.since;
        Objects.requireNonNull(notAcquired.get(reason)).increment();
        if (waiter.waits) {
            endedWaits.increment();
            waitNanos.add(waited);
        }
        if (dispatcher.hasListeners()) {
            dispatcher.note(
                    new NotAcquired(name.name(), reason, Duration.ofNanos(waited), store), LockListener::onNotAcquired);
        }
    }

    private static NotAcquired.Reason reason(@Nullable Object outcome, NotAcquired.Reason ifEmpty) {
        NotAcquired.Reason otherwise = outcome instanceof Throwable ? NotAcquired.Reason.STORE_FAILED : ifEmpty;
        return outcome instanceof ClientClosedException ? NotAcquired.Reason.CLIENT_CLOSED : otherwise;
    }

    /**
     * A wait has ended; on the thread of the caller, or of its callback.
     *
     * @param ifEmpty why, where the outcome is neither a hold nor a failure
     */
    void recordWait(LockName name, Waiter waiter, NotAcquired.Reason ifEmpty) {
        FlightEvents.Wait event = waiter.event;
        if (event == null || !event.shouldCommit()) {
            return;
        }
        Object outcome = waiter.outcome();
        if (outcome instanceof HoldHandle got) {
            event.acquired = true;
            event.handedOver = isHandedOver(got.token());
        } else {
            event.reason = reason(outcome, ifEmpty).name();
        }
        event.lock = name.name();
        event.store = store;
        event.commit();
    }

    // ---- holds ----

    private void acquired(HoldState hold, Waiter taker) {
        long waited = hold.since - taker.since;
        boolean handedOver = isHandedOver(hold.token);
        acquisitions.increment();
        if (handedOver) {
            handOvers.increment();
        }
        if (taker.waits) {
            endedWaits.increment();
            waitNanos.add(waited);
        }
        if (dispatcher.hasListeners()) {
            dispatcher.note(
                    new Acquired(hold.name(), hold.token, Duration.ofNanos(waited), handedOver, store),
                    LockListener::onAcquired);
        }
    }

    /** Within one grant number all holds but the first came without a new grant. */
    private static boolean isHandedOver(long token) {
        return token % Tokens.BLOCK != 0;
    }

    /** A hold was closed by its holder; under the mutex. */
    void released(HoldState hold) {
        long held = ended(hold);
        releases.increment();
        if (dispatcher.hasListeners()) {
            dispatcher.note(
                    new Released(hold.name(), hold.token, Duration.ofNanos(held), store), LockListener::onReleased);
        }
    }

    /** A hold was lost while open; under the mutex. */
    void lost(HoldState hold) {
        ended(hold);
        Objects.requireNonNull(losses.get(hold.loss().cause())).increment();
        noteLoss(hold);
    }

    private long ended(HoldState hold) {
        long held = time.nanoTime() - hold.since;
        holdNanos.add(held);
        return held;
    }

    private void noteLoss(HoldState hold) {
        dispatcher.note(hold.loss(), LockListener::onLost);
        HoldHandle anchor = hold.anchor();
        if (anchor != null) {
            anchor.noteLoss();
        }
    }

    /** A hold was lost while open; after the mutex is free. */
    void recordLost(HoldState hold) {
        recordHold(hold, true);
        record(hold.loss());
    }

    /** A hold has ended; after the mutex is free. */
    void recordHold(HoldState hold, boolean lost) {
        FlightEvents.Held event = hold.event;
        if (event != null && event.shouldCommit()) {
            event.lock = hold.name();
            event.store = store;
            event.token = hold.token;
            event.handedOver = isHandedOver(hold.token);
            event.lost = lost;
            event.commit();
        }
    }

    /** The store had no such grant any more when it was released: the hold was lost before it was closed. */
    void lostUnnoticed(HoldState hold, Loss.Cause cause) {
        Loss loss = new Loss(hold.name(), hold.token, cause, store);
        hold.lose(loss);
        lateLosses.increment();
        noteLoss(hold);
        record(loss);
        flush();
    }

    private static void record(Loss loss) {
        if (FlightEvents.areRecorded()) {
            FlightEvents.Lost event = new FlightEvents.Lost();
            event.lock = loss.name();
            event.store = loss.store();
            event.token = loss.token();
            event.cause = loss.cause().name();
            event.commit();
        }
        Log.lost(loss);
    }

    // ---- what the renewer sees ----

    /** The store moved the lease of a grant. */
    void renewed(GrantState grant) {
        renewals.increment();
        ofHold(
                grant,
                hold -> dispatcher.note(
                        new Renewed(hold.name(), hold.token, remaining(grant), store), LockListener::onRenewed));
    }

    /** A renewal of a grant got no answer. */
    void renewalFailed(GrantState grant, @Nullable Throwable failure) {
        failedRenewals.increment();
        ofHold(grant, hold -> {
            String reason = failure == null ? null : Redacted.text(failure);
            dispatcher.note(
                    new RenewalFailed(hold.name(), hold.token, remaining(grant), reason, store),
                    LockListener::onRenewalFailed);
        });
    }

    /** A grant came to be in doubt. */
    void suspect(GrantState grant) {
        suspects.increment();
        ofHold(grant, hold -> dispatcher.note(new Suspect(hold.name(), hold.token, store), LockListener::onSuspect));
    }

    /** Nobody can close a hold any more. */
    void leaked(HoldState leaked, String why) {
        leaks.increment();
        callSites.recordEach();
        Log.warn(() -> "the hold of '" + leaked.name() + "' on " + store + ", acquired " + leaked.origin()
                + ", was never closed and " + why
                + ": it is renewed no more and ends with its lease; close holds in a try statement"
                + (leaked.site.isRecorded() ? "" : ". The places of the next holds are recorded"));
        ofHold(leaked.grant, hold -> {
            if (hold == leaked) { // others may hold by the same grant
                dispatcher.note(new Leaked(hold.name(), hold.token, hold.origin(), store), LockListener::onLeaked);
            }
        });
    }

    /** Notes something of each hold that a grant has now, if anybody listens: never after its end was noted. */
    private void ofHold(GrantState grant, Consumer<HoldState> note) {
        if (dispatcher.hasListeners()) {
            grant.lock().withHoldsOf(grant, note);
            flush();
        }
    }

    private static Duration remaining(GrantState grant) {
        return Duration.ofNanos(Math.max(0, grant.remaining()));
    }

    /** The store answered to a renewal, or did not. */
    void recordRenewal(FlightEvents.@Nullable Renewed event, GrantState first, int holds, int unanswered) {
        if (event != null && event.shouldCommit()) {
            event.lock = first.lock().name.name();
            event.store = store;
            event.holds = holds;
            event.unanswered = unanswered;
            event.commit();
        }
    }

    // ---- what goes back to the store ----

    /** Nothing is retained on a store that turned out, once a lazy client had connected, to report no waiters. */
    void notRetained(LockName name) {
        if (saidNotRetained.compareAndSet(false, true)) {
            Log.warn(() ->
                    "locks such as '" + name + "' on " + store + " are released, not retained: this store does not"
                            + " report when another client waits; leave retain off, or use another store");
        }
    }

    /** The store did not confirm a release. */
    void releaseFailed(GrantState grant, @Nullable HoldState last, Throwable failure) {
        failedReleases.increment();
        String name = grant.lock().name.name();
        Duration lease = grant.grant().lease();
        String reason = Redacted.text(failure);
        long token = last == null ? Tokens.token(grant.grant().number(), 0) : last.token;
        String bound = grant.sessionBound ? "its session" : "its lease of " + Durations.text(lease);
        Log.warn(() -> "could not release '" + name + "' on " + store
                + "; the client repeats the release until the store confirms it, and the lock is free when " + bound
                + " ends at the latest; see that the store is up and can be reached: " + reason);
        if (FlightEvents.areRecorded()) {
            FlightEvents.ReleaseFailed event = new FlightEvents.ReleaseFailed();
            event.lock = name;
            event.store = store;
            event.token = token;
            event.reason = reason;
            event.commit();
        }
        if (dispatcher.hasListeners()) {
            dispatcher.note(new ReleaseFailed(name, token, lease, reason, store), LockListener::onReleaseFailed);
            flush();
        }
    }

    // ---- whether the store answers ----

    /** The store does not answer, from now on; {@link #flush} follows. */
    void unreachable(Throwable why) {
        dispatcher.note(new StoreEvent.Unreachable(Redacted.text(why), store), LockListener::onStoreUnreachable);
    }

    /**
     * The same, for the log; once no lock is held.
     *
     * @param waitedFor a lock that some caller waits for; null if nobody does, and then nothing is said
     */
    void recordUnreachable(@Nullable String waitedFor, Throwable why, Duration limit) {
        long ended = endedWaits.sum();
        long callers = waits.sum() - ended;
        if (waitedFor != null) {
            Log.warn(() -> store + " cannot serve " + callers + " waiting caller(s), for example for '" + waitedFor
                    + "'; they keep waiting, those without a time limit for at most " + Durations.text(limit)
                    + ", and are served when it can; see the cause: " + Redacted.text(why));
        }
    }

    /** The store answers again; {@link #flush} follows. */
    void reachable(Duration after) {
        dispatcher.note(new StoreEvent.Reachable(after, store), LockListener::onStoreReachable);
    }

    // ---- the figures ----

    /**
     * The figures. The gauges are differences of two that grow, so nothing is counted down twice; what ended is read just before
     * what began: no gauge is ever below zero, or below what it was when asked.
     */
    ClientStatistics statistics(boolean storeReachable) {
        Map<Loss.Cause, Long> causes = sums(losses, Loss.Cause.class);
        long lost = causes.values().stream().mapToLong(Long::longValue).sum();
        long released = releases.sum();
        long handedOver = handOvers.sum();
        long acquired = acquisitions.sum();
        long endedBefore = endedWaits.sum();
        long begun = waits.sum();
        return new ClientStatistics(
                begun,
                begun - endedBefore,
                waitNanos.sum(),
                acquired,
                handedOver,
                sums(notAcquired, NotAcquired.Reason.class),
                acquired - released - lost,
                holdNanos.sum(),
                released,
                failedReleases.sum(),
                causes,
                lateLosses.sum(),
                leaks.sum(),
                suspects.sum(),
                renewals.sum(),
                failedRenewals.sum(),
                claims.sum(),
                storeCalls.sum(),
                failedStoreCalls.sum(),
                storeNanos.sum(),
                dispatcher.dropped.sum(),
                storeReachable);
    }

    private static <E extends Enum<E>> Map<E, LongAdder> adders(Class<E> type) {
        Map<E, LongAdder> adders = new EnumMap<>(type);
        for (E each : type.getEnumConstants()) {
            adders.put(each, new LongAdder());
        }
        return adders;
    }

    private static <E extends Enum<E>> Map<E, Long> sums(Map<E, LongAdder> adders, Class<E> type) {
        Map<E, Long> sums = new EnumMap<>(type);
        adders.forEach((each, adder) -> sums.put(each, adder.sum()));
        return sums;
    }
}
