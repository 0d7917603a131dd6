package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all grants of a client alive, and notices when one ends.
 *
 * <p>A grant is due to be renewed when a third of its lease has passed since the request that last proved it; two more
 * thirds are left to try again. The keeper sleeps until the first grant is due, or a deadline passes, then goes through
 * all of them once and renews those due now or shortly after in one batch. So thousands of holds cost one pass and one
 * request per batch, and no timer each; a hold that is closed soon costs one entry in a set.
 *
 * <pre>
 *   watch ──► set of grants ──tick──► run out?        ──► lost, told
 *                                 ──► nobody left?    ──► leak: not renewed any more
 *                                 ──► held too long?  ──► not renewed any more
 *                                 ──► due?            ──► batch ──► store ──► HELD: deadline moves
 *                                                                         ──► LOST: lost, told
 *                                                                         ──► UNKNOWN: again soon
 * </pre>
 *
 * <p>Thread-safe. Ticks run on the client's timer and never block.
 */
final class Keeper {
    /** Grants due within this part of their lease are renewed along with those due now. */
    private static final int BATCH_DIVISOR = 30;

    private static final Duration RENEWAL_POLL = Duration.ofNanos(100_000);

    private record Wake(long at, AtomicReference<TimeSource.@Nullable Scheduled> task) {
        void cancel() {
            TimeSource.Scheduled scheduled = task.get();
            if (scheduled != null) {
                scheduled.cancel();
            }
        }
    }

    private final Store store;
    private final TimeSource time;
    private final Observer observer;
    private final Map<ClaimId, LiveGrant> grants = new ConcurrentHashMap<>();
    private final ReferenceQueue<HoldAnchor> leaks = new ReferenceQueue<>();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final AtomicReference<@Nullable Wake> wake = new AtomicReference<>();

    Keeper(Store store, TimeSource time, Observer observer) {
        this.store = store;
        this.time = time;
        this.observer = observer;
    }

    /** Where the caller's side of a hold comes up when nobody refers to it any more. */
    ReferenceQueue<HoldAnchor> leaks() {
        return leaks;
    }

    /** Keeps a grant from now on. */
    void watch(LiveGrant grant) {
        grants.put(grant.grant().id(), grant);
        wakeBy(grant.dueAt());
    }

    /** Its lease was changed: it may be due sooner than was planned. */
    void changed(LiveGrant grant) {
        wakeBy(grant.dueAt());
    }

    /** Keeps it no more: it was given back. */
    void forget(LiveGrant grant) {
        grants.remove(grant.grant().id());
    }

    /** Looks at one grant now: loses it if its deadline has passed, doubts it if the machine slept. */
    void examine(LiveGrant grant) {
        if (grant.hasRunOut()) {
            lose(grant, grant.endCause());
        } else if (grant.hasSlept()) {
            doubt(grant);
        }
    }

    /** The grant may be gone: invalid until the store confirms it. */
    void doubt(LiveGrant grant) {
        if (grant.doubt()) {
            observer.suspect(grant);
            wakeBy(grant.dueAt());
        }
    }

    /** Ends a grant and tells everybody, once. */
    void lose(LiveGrant grant, Loss.Cause cause) {
        if (grant.lose(cause)) {
            forget(grant);
            grant.queue().grantLost(grant, cause);
        }
    }

    /** Finds the watched grant that a store speaks of. */
    @Nullable
    LiveGrant find(Grant grant) {
        return grants.get(grant.id());
    }

    /** Stops ticking. */
    void close() {
        Wake last = wake.getAndSet(null);
        if (last != null) {
            last.cancel();
        }
    }

    private void wakeBy(long at) {
        while (true) {
            Wake planned = wake.get();
            if (planned != null && planned.at - at <= 0) {
                return;
            }
            Wake next = new Wake(at, new AtomicReference<>());
            if (wake.compareAndSet(planned, next)) {
                Duration delay = Duration.ofNanos(Math.max(0, at - time.nanoTime()));
                next.task.set(time.schedule(() -> tick(next), delay));
                if (wake.get() != next) {
                    next.cancel(); // it was replaced before it could be cancelled
                }
                if (planned != null) {
                    planned.cancel();
                }
                return;
            }
        }
    }

    private void tick(Wake mine) {
        if (!wake.compareAndSet(mine, null)) {
            return; // an earlier one was planned meanwhile and does the work
        }
        stopRenewingLeaks();
        List<LiveGrant> due = new ArrayList<>();
        for (LiveGrant grant : grants.values()) {
            examine(grant);
            stopIfHeldTooLong(grant);
            if (grant.isOpen() && grant.isDue(time.nanoTime() + batchWindow(grant)) && grant.beginRenewal()) {
                due.add(grant);
            }
        }
        if (!due.isEmpty()) {
            renew(due);
        }
        wakeForEarliest();
    }

    private void wakeForEarliest() {
        long now = time.nanoTime();
        grants.values().stream()
                .mapToLong(grant -> grant.dueAt() - now)
                .min()
                .ifPresent(soonest -> wakeBy(now + soonest));
    }

    private static long batchWindow(LiveGrant grant) {
        return Durations.nanos(grant.grant().lease()) / BATCH_DIVISOR;
    }

    private void stopRenewingLeaks() {
        for (Reference<?> gone = leaks.poll(); gone != null; gone = leaks.poll()) {
            if (gone instanceof LiveHold.AnchorReference reference) {
                reportLeak(reference.hold, "nobody refers to it any more");
            }
        }
    }

    private void stopIfHeldTooLong(LiveGrant grant) {
        grant.queue().forEachHoldOf(grant, this::stopIfHeldTooLong);
    }

    private void stopIfHeldTooLong(LiveHold hold) {
        if (hold.isAbandonedByThread()) {
            reportLeak(hold, "its thread has ended");
        }
        hold.options
                .maxHold()
                .filter(most -> time.nanoTime() - hold.since >= Durations.nanos(most))
                .ifPresent(most -> hold.grant.queue().stopRenewal(hold, Loss.Cause.MAXIMUM_HOLD));
    }

    private void reportLeak(LiveHold hold, String why) {
        if (hold.grant.queue().stopRenewal(hold, Loss.Cause.LEAKED)) {
            observer.leaked(hold, why);
        }
    }

    private void renew(List<LiveGrant> due) {
        List<Grant> request = new ArrayList<>(due.size());
        for (LiveGrant grant : due) {
            request.add(grant.toRenew());
        }
        long wallLead = due.get(0).wallLead();
        Events.@Nullable Renewed event = observer.beginRenewal();
        Returns.guarded(() -> store.renew(request)).whenComplete((verdicts, failure) -> {
            List<LiveGrant> unanswered = new ArrayList<>();
            for (int i = 0; i < due.size(); i++) {
                Renewal verdict =
                        verdicts == null ? null : verdicts.get(request.get(i).id());
                if (!renewed(due.get(i), request.get(i), verdict, failure, wallLead)) {
                    unanswered.add(due.get(i));
                }
            }
            observer.recordRenewal(event, due.get(0), due.size(), unanswered.size());
            if (unanswered.isEmpty()) {
                failing.set(false);
            } else {
                unanswered.removeIf(grant -> !grant.isOpen()); // given back meanwhile, or its client was closed
                sayOnce(unanswered, due.size(), failure);
            }
        });
    }

    /** Renews a grant out of turn, to learn whether anybody else waits for its name; no answer counts as yes. */
    void ask(LiveGrant grant, Consumer<Boolean> alone) {
        if (!grant.beginRenewal()) {
            alone.accept(false);
            return;
        }
        Grant request = grant.toRenew();
        long wallLead = grant.wallLead();
        Returns.guarded(() -> store.renew(List.of(request))).whenComplete((verdicts, failure) -> {
            Renewal verdict = verdicts == null ? null : verdicts.get(request.id());
            renewed(grant, request, verdict, failure, wallLead);
            alone.accept(verdict != null && verdict.verdict() == Renewal.Verdict.HELD && !verdict.contended());
        });
    }

    /** Once per outage: each grant is tried several times before its deadline. */
    private void sayOnce(List<LiveGrant> unanswered, int due, @Nullable Throwable failure) {
        if (!unanswered.isEmpty() && failing.compareAndSet(false, true)) {
            Log.warn(() -> "could not renew " + unanswered.size() + " of " + due + " hold(s), such as '"
                    + unanswered.get(0).queue().name() + "', on " + store.description()
                    + "; tried again until their leases end; see that the store is up and can be reached: "
                    + (failure == null ? "it gave no answer for them" : Redacted.text(failure)));
        }
    }

    /** Whether the store answered for this grant. */
    private boolean renewed(
            LiveGrant grant, Grant request, @Nullable Renewal renewal, @Nullable Throwable failure, long wallLead) {
        Renewal verdict = renewal == null ? Renewal.unknown(0) : renewal;
        boolean unknown = verdict.verdict() == Renewal.Verdict.UNKNOWN;
        try {
            if (unknown) {
                grant.retryRenewal();
                observer.renewalFailed(grant, failure);
            }
            apply(grant, verdict, () -> grant.confirm(request, verdict.sentNanos(), wallLead));
        } finally {
            grant.endRenewal(!unknown);
        }
        if (grant.isOpen()) {
            wakeBy(grant.dueAt());
        }
        return !unknown;
    }

    /** Renews a fixed lease on its holder's behalf, and waits. */
    void extend(LiveHold hold, Duration asked) {
        LiveGrant live = hold.grant;
        Duration lease = live.isSessionBound() ? live.grant().lease() : asked; // a session has its own
        Patience.until(() -> beganRenewal(hold), RENEWAL_POLL);
        Renewal renewal = Renewal.unknown(0);
        try {
            Grant request = live.toChange(lease);
            wakeBy(live.dueAt());
            long wallLead = live.wallLead();
            Map<ClaimId, Renewal> answer = Failures.await(
                    Returns.guarded(() -> store.renew(List.of(request))),
                    "could not extend the hold of '" + hold.name + "'");
            renewal = answer.getOrDefault(request.id(), renewal);
            long sent = renewal.sentNanos();
            apply(live, renewal, () -> {
                boolean goesOn = live.changeLease(lease, sent, wallLead);
                if (goesOn) {
                    live.changeFixedLease(asked);
                }
                return goesOn;
            });
        } finally {
            live.endRenewal(renewal.verdict() != Renewal.Verdict.UNKNOWN);
            wakeBy(live.dueAt());
            if (renewal.verdict() == Renewal.Verdict.UNKNOWN) {
                observer.renewalFailed(live, null);
            }
        }
        if (renewal.verdict() == Renewal.Verdict.UNKNOWN) {
            throw new StoreUnavailableException(
                    "could not extend the hold of '" + hold.name + "': no answer from " + store.description()
                            + "; the shorter of the old lease and the new one counts, try again before it ends");
        }
        throwIfLost(hold);
    }

    /** What a verdict means for a grant: it goes on, it is lost, or it is as it was. */
    private void apply(LiveGrant live, Renewal renewal, BooleanSupplier held) {
        switch (renewal.verdict()) {
            case LOST -> lose(live, Loss.Cause.REFUSED);
            case UNKNOWN -> examine(live);
            case HELD -> {
                if (held.getAsBoolean()) {
                    observer.renewed(live);
                    live.queue().confirmed(live);
                } else {
                    examine(live);
                }
            }
        }
    }

    /** False while another renewal is under way, by a thread that extends, or to confirm a hold in doubt. */
    private boolean beganRenewal(LiveHold hold) {
        examine(hold.grant);
        throwIfLost(hold);
        return hold.grant.beginRenewal();
    }

    private static void throwIfLost(LiveHold hold) {
        if (hold.isLost()) {
            throw hold.lostException();
        }
        if (!hold.isOpen()) {
            throw new IllegalStateException("the hold of '" + hold.name + "' is closed");
        }
    }
}
