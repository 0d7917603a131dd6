package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all grants of a client alive, and notices when one ends.
 *
 * <p>A grant is due to be renewed when a third of its lease has passed since the request that last proved it; two more
 * thirds are left to try again. The renewer sleeps until the first grant is due, or a deadline passes. It then goes through
 * the set once, examines the grants that are due now or shortly after, and has them renewed in one batch; of the others it
 * reads when they are due, and whether the machine has slept since they were confirmed. The more grants there are, the more
 * of them are renewed together, so that passes take no more than a hundredth of a core. So thousands of holds cost one
 * pass and one request per thousand of them, and no timer each; a hold that is closed soon costs one entry in a set.
 *
 * <pre>
 *   keep  ──► set of grants ──tick──► run out?        ──► lost, reported
 *                                 ──► nobody left?    ──► leak: not renewed any more
 *                                 ──► held too long?  ──► not renewed any more
 *                                 ──► due?            ──► batch ──► store ──► HELD: deadline moves
 *                                                                         ──► LOST: lost, reported
 *                                                                         ──► UNKNOWN: again soon
 * </pre>
 *
 * <p>Thread-safe. Ticks run on the client's timer and never block.
 */
final class LeaseRenewer {
    /** Grants due within this part of their lease are renewed along with those due now; where there are very many, within more. */
    private static final int BATCH_DIVISOR = 30;

    private static final int LARGEST_BATCH_DIVISOR = 6;
    /** To examine one takes a hundredth of this, in nanoseconds. */
    private static final long BATCH_FOR_EACH = 50_000;

    private static final Duration RENEWAL_POLL = Duration.ofNanos(100_000);

    /** When all are examined again after an Error, such as of memory, has ended that half-way; in nanoseconds. */
    private static final long AFTER_AN_ERROR = 100_000_000;

    /** When the renewer examines the grants again. */
    private static final class Wake {
        final long at;
        /** What brings it; written before others see it. */
        TimeSource.Scheduled task = () -> {};
        /** Whether that time has come, perhaps before others could see that it is planned. */
        volatile boolean came;

        Wake(long at) {
            this.at = at;
        }
    }

    private final StoreLink store;
    private final ElapsedTime time;
    private final Telemetry telemetry;
    private final RenewalSender sender;
    private final Map<ClaimId, GrantState> grants = new ConcurrentHashMap<>();
    /** Those who want to know whether another client waits, and are answered by the next request of that grant. */
    private final Map<GrantState, List<Consumer<Boolean>>> askers = new ConcurrentHashMap<>();

    /** Where the caller's side of a hold comes up when nobody refers to it any more. */
    final ReferenceQueue<HoldHandle> leaks = new ReferenceQueue<>();

    private final AtomicReference<@Nullable Wake> next = new AtomicReference<>();
    /** The timer had no thread for a wake: whoever plans one from now on has it come at once. */
    private volatile boolean missed;
    /** When all were examined last. */
    private volatile long passedAt;

    LeaseRenewer(StoreLink store, ElapsedTime time, Telemetry telemetry) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
        this.sender = new RenewalSender(store, time, telemetry, this);
    }

    /** Keeps a grant from now on. */
    void keep(GrantState grant) {
        grants.put(grant.grant().id(), grant);
        try {
            wakeBy(grant.dueAt());
        } catch (Throwable notPlanned) {
            forget(grant);
            throw notPlanned;
        }
    }

    /** Its lease was changed: it may be due sooner than was planned. */
    void changed(GrantState grant) {
        wakeBy(grant.dueAt());
    }

    /** Keeps it no more: it was given back. */
    void forget(GrantState grant) {
        grants.remove(grant.grant().id());
    }

    /** Looks at one grant now: loses it if its deadline has passed, doubts it if the machine slept. */
    void examine(GrantState grant) {
        if (grant.hasRunOut()) {
            lose(grant, grant.endCause());
        } else if (grant.hasSlept()) {
            doubt(grant);
        }
    }

    /** The grant may be gone: invalid until the store confirms it. */
    void doubt(GrantState grant) {
        if (grant.doubt()) {
            telemetry.suspect(grant);
            wakeBy(grant.dueAt());
        }
    }

    /** Ends a grant and tells everybody, once. */
    void lose(GrantState grant, Loss.Cause cause) {
        if (grant.lose(cause)) {
            forget(grant);
            try {
                grant.lock().grantLost(grant, cause);
            } catch (Throwable broken) { // so far it is marked as lost, and perhaps nothing more
                Effects.surely(() -> grant.lock().grantLost(grant, cause));
                throw broken;
            }
        }
    }

    /** Finds the watched grant that a store speaks of. */
    @Nullable
    GrantState find(Grant grant) {
        return grants.get(grant.id());
    }

    /** Stops ticking. */
    void close() {
        Wake last = next.getAndSet(null);
        if (last != null) {
            last.task.cancel();
        }
    }

    /** Has all grants examined at that time, or before; nothing has changed where the timer has no thread for it. */
    private void wakeBy(long at) {
        while (true) {
            Wake before = next.get();
            long by = missed ? time.nanoTime() : at;
            if (before != null && before.at - by <= 0) {
                return;
            }
            Wake planned = plan(by);
            if (!next.compareAndSet(before, planned)) {
                planned.task.cancel();
            } else {
                if (before != null) {
                    before.task.cancel();
                }
                if (!planned.came || !next.compareAndSet(planned, null)) {
                    return;
                }
            }
        }
    }

    private Wake plan(long at) {
        Wake wake = new Wake(at);
        try {
            wake.task = time.schedule(() -> tick(wake), Duration.ofNanos(Math.max(0, at - time.nanoTime())));
            return wake;
        } catch (Throwable noThread) {
            missed = true;
            throw noThread;
        }
    }

    private void tick(Wake mine) {
        mine.came = true;
        if (!next.compareAndSet(mine, null)) {
            return; // an earlier one was planned meanwhile and does the work, or whoever plans this one plans another
        }
        missed = false;
        long now = time.nanoTime();
        long soonest = AFTER_AN_ERROR;
        List<GrantState> due = List.of();
        try {
            due = new ArrayList<>();
            soonest = examineAll(now, due);
        } finally {
            try {
                if (soonest < Long.MAX_VALUE) { // first: deadlines are kept though sending fails
                    long by = now + soonest;
                    Effects.surely(() -> wakeBy(by)); // nothing is planned, and nobody may come who plans
                }
            } finally {
                if (!due.isEmpty()) {
                    sender.send(due);
                }
            }
        }
    }

    /** Examines all grants, and adds those whose renewal begins; returns when the next is due, in nanoseconds from now. */
    private long examineAll(long now, List<GrantState> due) {
        stopRenewingLeaks();
        long slept = time.slept();
        long soonest = Long.MAX_VALUE;
        // where passes come often for another reason, to renew much earlier would spare none
        long forAll = Math.min(grants.size() * BATCH_FOR_EACH, 2 * (now - passedAt));
        passedAt = now;
        for (GrantState grant : grants.values()) {
            if (grant.dueAt() - now <= batchWindow(grant, forAll) || grant.hasSlept(slept)) {
                try {
                    examine(grant);
                    stopIfHeldTooLong(grant);
                    due.add(grant); // first: what has begun is sent
                    if (!beginsIfDue(grant, forAll)) {
                        due.remove(due.size() - 1);
                    }
                } catch (Throwable broken) {
                    report(grant, broken);
                }
            }
            if (grant.isOpen()) {
                soonest = Math.min(soonest, grant.dueAt() - now);
            }
        }
        return soonest;
    }

    /** What follows for one grant has failed, such as the report of its loss: all others go on. */
    private void report(GrantState of, Throwable broken) {
        Log.warn(() -> "what follows for '" + of.lock().name.name() + "' on " + store.description()
                + " failed at its renewal or its loss; all other holds go on: correct it where the cause is an action"
                + " of the application, else report this: " + Redacted.text(broken));
    }

    private boolean beginsIfDue(GrantState grant, long forAll) {
        boolean begins =
                grant.isOpen() && grant.isDue(time.nanoTime() + batchWindow(grant, forAll)) && grant.beginRenewal();
        if (begins) {
            grant.announceRenewal(); // while it waits for its turn, the grant may be passed on
        }
        return begins;
    }

    private static long batchWindow(GrantState grant, long forAll) {
        long lease = Durations.nanos(grant.grant().lease());
        return Math.max(lease / BATCH_DIVISOR, Math.min(forAll, lease / LARGEST_BATCH_DIVISOR));
    }

    private void stopRenewingLeaks() {
        for (Reference<?> gone = leaks.poll(); gone != null; gone = leaks.poll()) {
            if (gone instanceof HoldState hold) {
                reportLeak(hold, "no reference to it remains");
            }
        }
    }

    private void stopIfHeldTooLong(GrantState grant) {
        grant.owner.forEachHoldOf(grant, this::stopIfHeldTooLong);
    }

    private void stopIfHeldTooLong(HoldState hold) {
        if (hold.isAbandonedByThread()) {
            reportLeak(hold, "its thread has ended");
        }
        hold.options
                .maxHold()
                .filter(most -> time.nanoTime() - hold.since >= Durations.nanos(most))
                .ifPresent(most -> hold.grant.lock().stopRenewal(hold, Loss.Cause.MAX_HOLD_REACHED));
    }

    private void reportLeak(HoldState hold, String why) {
        if (hold.grant.lock().stopRenewal(hold, Loss.Cause.LEAKED)) {
            telemetry.leaked(hold, why);
        }
    }

    /**
     * Renews a grant out of turn, to learn whether anybody else waits for its name; no answer counts as yes. Those who ask
     * while a request is under way share the answer to the next one. Frequent questions put off all planned renewals, so the
     * limits that are checked before those are checked here too.
     */
    void ask(GrantState grant, Consumer<Boolean> alone) {
        askers.compute(grant, (same, others) -> {
            List<Consumer<Boolean>> all = others == null ? new ArrayList<>(1) : others;
            all.add(alone);
            return all;
        });
        askForAll(grant);
    }

    /** Unless a request is under way: its end calls this again. */
    private void askForAll(GrantState grant) {
        if (!askers.containsKey(grant)) {
            return;
        }
        if (!grant.isOpen()) { // nothing is renewed after its release
            tellAskers(grant, takeAskers(grant), false);
            return;
        }
        stopIfHeldTooLong(grant);
        if (!grant.beginRenewal()) {
            return;
        }
        List<Consumer<Boolean>> all = takeAskers(grant);
        try {
            Grant request = grant.toRenew();
            long slept = time.slept();
            store.renew(List.of(request)).whenComplete((verdicts, failure) -> {
                Renewal verdict = verdicts == null ? null : verdicts.get(request.id());
                renewed(grant, request, verdict, failure, slept);
                boolean alone = verdict != null && verdict.verdict() == Renewal.Verdict.HELD && !verdict.contended();
                tellAskers(grant, all, alone);
            });
        } catch (Throwable broken) { // an Error: it was not asked, and those who ask hear nothing else
            renewed(grant, grant.grant(), null, broken, 0);
            tellAskers(grant, all, false);
        }
    }

    private List<Consumer<Boolean>> takeAskers(GrantState grant) {
        return Objects.requireNonNullElse(askers.remove(grant), List.of());
    }

    private void tellAskers(GrantState grant, List<Consumer<Boolean>> all, boolean alone) {
        for (Consumer<Boolean> asker : all) {
            try {
                asker.accept(alone);
            } catch (Throwable broken) { // the others are answered all the same
                report(grant, broken);
            }
        }
    }

    /** The request under way has an answer, or failed. */
    void end(GrantState grant, boolean answered) {
        grant.endRenewal(answered);
        try {
            askForAll(grant);
        } catch (Throwable broken) { // what follows the answer goes on
            report(grant, broken);
        }
    }

    /**
     * Applies an answer to its grant.
     *
     * @param request the grant as it was sent
     * @param renewal null where the store gave no answer for it
     * @return whether the store answered for this grant
     */
    boolean renewed(
            GrantState grant, Grant request, @Nullable Renewal renewal, @Nullable Throwable failure, long slept) {
        Renewal verdict = renewal == null ? Renewal.unknown(0) : renewal;
        boolean unknown = verdict.verdict() == Renewal.Verdict.UNKNOWN;
        try {
            if (unknown) {
                grant.retryRenewal();
                telemetry.renewalFailed(grant, failure);
            }
            apply(grant, verdict, () -> grant.confirm(request, verdict.sentNanos(), slept));
        } catch (Throwable broken) {
            report(grant, broken);
        } finally {
            end(grant, !unknown);
        }
        if (grant.isOpen()) {
            try {
                wakeBy(grant.dueAt());
            } catch (Throwable notPlanned) { // the others of its batch are answered all the same
                report(grant, notPlanned);
            }
        }
        return !unknown;
    }

    // ---- requests between two holds of one grant: the caller hears whether it stands and was changed; no answer
    // counts as no ----

    /** Asks for a fresh grant number; the store refuses when another client waits. */
    void renumber(GrantState live, Consumer<Boolean> then) {
        Grant old = live.grant();
        long slept = time.slept();
        once(live, then, () -> store.extend(old), answer -> {
            Grant fresh = answer.orElse(null);
            return fresh != null
                    && fresh.number() > old.number()
                    && Tokens.isNumber(fresh.number())
                    && live.renumber(fresh, slept);
        });
    }

    /** Renews a grant with the lease of its next holder. */
    void renewFor(GrantState live, HoldOptions options, Consumer<Boolean> then) {
        long slept = time.slept();
        once(live, then, () -> store.renew(List.of(live.toHandOver(options))), answer -> {
            Renewal renewal = answer.get(live.grant().id());
            return renewal != null
                    && renewal.verdict() == Renewal.Verdict.HELD
                    && live.changeLease(live.leaseFor(options), renewal.sentNanos(), slept);
        });
    }

    /** One at a time: a renewal that another could overtake would leave the store with the wrong lease. */
    private static <T> void once(
            GrantState live, Consumer<Boolean> then, Supplier<CompletableFuture<T>> request, Predicate<T> apply) {
        if (!live.beginRenewal()) {
            then.accept(false);
            return;
        }
        request.get().whenComplete((answer, failure) -> {
            boolean changed = false;
            try {
                changed = answer != null && apply.test(answer);
            } finally {
                live.endRenewal(answer != null);
                then.accept(changed);
            }
        });
    }

    // ---- on a holder's behalf ----

    /** Renews a fixed lease on its holder's behalf, and waits. */
    void extend(HoldState hold, Duration asked, Consumer<CompletableFuture<?>> awaiting) {
        GrantState live = hold.grant;
        Duration lease = live.sessionBound ? live.grant().lease() : asked; // a session has its own
        SystemTime.awaitUninterrupted(() -> beganRenewal(hold), RENEWAL_POLL);
        Renewal renewal = Renewal.unknown(0);
        try {
            Grant request = live.toChange(lease);
            wakeBy(live.dueAt());
            long slept = time.slept();
            CompletableFuture<Map<ClaimId, Renewal>> asking = store.renew(List.of(request));
            awaiting.accept(asking);
            Map<ClaimId, Renewal> answer = Failures.await(asking, "could not extend the hold of '" + hold.name() + "'");
            renewal = answer.getOrDefault(request.id(), renewal);
            long sent = renewal.sentNanos();
            apply(live, renewal, () -> {
                boolean goesOn = live.changeLease(lease, sent, slept);
                if (goesOn) {
                    live.changeFixedLease(asked);
                }
                return goesOn;
            });
        } finally {
            end(live, renewal.verdict() != Renewal.Verdict.UNKNOWN);
            wakeBy(live.dueAt());
            if (renewal.verdict() == Renewal.Verdict.UNKNOWN) {
                telemetry.renewalFailed(live, null);
            }
        }
        if (renewal.verdict() == Renewal.Verdict.UNKNOWN) {
            throw new StoreUnavailableException(
                    "could not extend the hold of '" + hold.name() + "': no answer from " + store.description()
                            + "; the shorter of the old lease and the new one counts, try again before it ends");
        }
        throwIfLost(hold);
    }

    /** What a verdict means for a grant: it goes on, it is lost, or it is as it was. */
    private void apply(GrantState live, Renewal renewal, BooleanSupplier held) {
        switch (renewal.verdict()) {
            case LOST -> lose(live, Loss.Cause.GONE_FROM_STORE);
            case UNKNOWN -> examine(live);
            case HELD -> {
                if (held.getAsBoolean()) {
                    telemetry.renewed(live);
                    live.owner.confirmed(live);
                    if (renewal.contended()) {
                        live.lock().wanted(live); // also where a message about that was lost
                    }
                } else {
                    examine(live);
                }
            }
        }
    }

    /** False while another renewal is under way, by a thread that extends, or to confirm a hold in doubt. */
    private boolean beganRenewal(HoldState hold) {
        examine(hold.grant);
        throwIfLost(hold);
        if (!hold.grant.beginRenewal()) {
            return false;
        }
        if (!hold.isOpen()) { // closed in between: the grant may be another hold's by now
            end(hold.grant, true);
            wakeBy(hold.grant.dueAt()); // a tick in between took the grant for one that is being renewed
            throwIfLost(hold);
        }
        return true;
    }

    private static void throwIfLost(HoldState hold) {
        if (hold.isLost()) {
            throw hold.lostException();
        }
        if (!hold.isOpen()) {
            throw new IllegalStateException("the hold of '" + hold.name() + "' is closed");
        }
    }
}
