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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all grants of a client alive, and notices when one ends.
 *
 * <p>A grant is due to be renewed when a third of its lease has passed since the request that last proved it; two more
 * thirds are left to try again. The renewer sleeps until the first grant is due, or a deadline passes, then goes through
 * all of them once and renews those due now or shortly after in one batch. So thousands of holds cost one pass and one
 * request per thousand of them, and no timer each; a hold that is closed soon costs one entry in a set.
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
final class LeaseRenewer {
    /** Grants due within this part of their lease are renewed along with those due now. */
    private static final int BATCH_DIVISOR = 30;

    /** Enough to keep a distant store busy, and few enough that the first do not wait long for the last. */
    private static final int MOST_IN_BATCH = 1_000;

    /** All batches of a round are under way after this part of the shortest lease, also where no store answers. */
    private static final int PATIENCE_DIVISOR = 6;

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
    private final Telemetry telemetry;
    private final Map<ClaimId, GrantState> grants = new ConcurrentHashMap<>();
    private final ReferenceQueue<HoldHandle> leaks = new ReferenceQueue<>();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final AtomicReference<@Nullable Wake> wake = new AtomicReference<>();

    LeaseRenewer(Store store, TimeSource time, Telemetry telemetry) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
    }

    /** Where the caller's side of a hold comes up when nobody refers to it any more. */
    ReferenceQueue<HoldHandle> leaks() {
        return leaks;
    }

    /** Keeps a grant from now on. */
    void watch(GrantState grant) {
        grants.put(grant.grant().id(), grant);
        wakeBy(grant.dueAt());
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
            grant.owner().grantLost(grant, cause);
        }
    }

    /** Finds the watched grant that a store speaks of. */
    @Nullable
    GrantState find(Grant grant) {
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
        List<GrantState> due = new ArrayList<>();
        for (GrantState grant : grants.values()) {
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

    private static long batchWindow(GrantState grant) {
        return Durations.nanos(grant.grant().lease()) / BATCH_DIVISOR;
    }

    private void stopRenewingLeaks() {
        for (Reference<?> gone = leaks.poll(); gone != null; gone = leaks.poll()) {
            if (gone instanceof HoldState.AnchorReference reference) {
                reportLeak(reference.hold, "nobody refers to it any more");
            }
        }
    }

    private void stopIfHeldTooLong(GrantState grant) {
        grant.owner().forEachHoldOf(grant, this::stopIfHeldTooLong);
    }

    private void stopIfHeldTooLong(HoldState hold) {
        if (hold.isAbandonedByThread()) {
            reportLeak(hold, "its thread has ended");
        }
        hold.options
                .maxHold()
                .filter(most -> time.nanoTime() - hold.since >= Durations.nanos(most))
                .ifPresent(most -> hold.grant.owner().stopRenewal(hold, Loss.Cause.MAX_HOLD_REACHED));
    }

    private void reportLeak(HoldState hold, String why) {
        if (hold.grant.owner().stopRenewal(hold, Loss.Cause.LEAKED)) {
            telemetry.leaked(hold, why);
        }
    }

    /**
     * A store answers a request as a whole. Very many grants are asked for batch by batch, those that end first before
     * the others, so that the first are safe while the last still wait. The next batch is asked for when the one before
     * is answered, or has not been for a while: what is slow about some grants must not cost the others their leases.
     * After a failure the rest is not asked for in this round: a store that is away would take a time-out for each batch.
     */
    private void renew(List<GrantState> due) {
        long now = time.nanoTime();
        due.sort(Comparator.comparingLong(grant -> grant.deadline() - now));
        int batches = (due.size() + MOST_IN_BATCH - 1) / MOST_IN_BATCH;
        Round round = new Round(batches);
        Duration patience = Duration.ofNanos(shortestLease(due) / PATIENCE_DIVISOR / batches);
        CompletableFuture<Void> turn = CompletableFuture.completedFuture(null);
        for (int from = 0; from < due.size(); from += MOST_IN_BATCH) {
            List<GrantState> some = due.subList(from, Math.min(from + MOST_IN_BATCH, due.size()));
            turn = new Batch(round, new ArrayList<>(some)).askAfter(turn, patience);
        }
    }

    private static long shortestLease(List<GrantState> due) {
        return due.stream()
                .mapToLong(grant -> Durations.nanos(grant.grant().lease()))
                .min()
                .orElse(0);
    }

    /** The batches of one tick. */
    private final class Round {
        private final int batches;
        private final AtomicInteger left;
        private final AtomicBoolean missed = new AtomicBoolean();

        Round(int batches) {
            this.batches = batches;
            this.left = new AtomicInteger(batches);
        }

        /** An outage is over when all that was due has been answered for. */
        void answered(boolean whole) {
            if (!whole) {
                missed.set(true);
            }
            if (left.decrementAndGet() == 0 && !missed.get()) {
                failing.set(false);
            }
        }
    }

    /** Grants that are renewed by one request. */
    private final class Batch {
        private final Round round;
        private final List<GrantState> due;
        private List<Grant> request = List.of();
        private long wallLead;
        private FlightEvents.@Nullable Renewed event;

        Batch(Round round, List<GrantState> due) {
            this.round = round;
            this.due = due;
        }

        /**
         * Asks when its turn has come.
         *
         * @param patience how long the next batch waits for the answer to this one at most
         * @return the turn of the next batch
         */
        CompletableFuture<Void> askAfter(CompletableFuture<Void> turn, Duration patience) {
            CompletableFuture<Void> next = new CompletableFuture<>();
            turn.thenCompose(mine -> {
                        if (round.batches > 1) {
                            time.schedule(() -> next.complete(null), patience);
                        }
                        return ask();
                    })
                    .whenComplete(this::answered)
                    .whenComplete((verdicts, failure) -> {
                        if (failure == null) {
                            next.complete(null);
                        } else {
                            next.completeExceptionally(failure);
                        }
                    });
            return next;
        }

        private CompletableFuture<Map<ClaimId, Renewal>> ask() {
            due.removeIf(Batch::hasEnded);
            if (due.isEmpty()) {
                return CompletableFuture.completedFuture(Map.of());
            }
            request = due.stream().map(GrantState::toRenew).toList();
            wallLead = due.get(0).wallLead();
            event = telemetry.beginRenewal();
            return ReleaseSender.guarded(() -> store.renew(request));
        }

        /** While it waited for its turn it may have been given back, or lost. */
        private static boolean hasEnded(GrantState grant) {
            boolean ended = !grant.isOpen();
            if (ended) {
                grant.endRenewal(true);
            }
            return ended;
        }

        /** Also where it was not asked for, after a failure of those before it. */
        private void answered(@Nullable Map<ClaimId, Renewal> verdicts, @Nullable Throwable failure) {
            List<GrantState> unanswered = new ArrayList<>();
            for (int i = 0; i < due.size(); i++) {
                Grant asked = request.isEmpty() ? due.get(i).grant() : request.get(i);
                Renewal verdict = verdicts == null ? null : verdicts.get(asked.id());
                if (!renewed(due.get(i), asked, verdict, failure, wallLead)) {
                    unanswered.add(due.get(i));
                }
            }
            if (!due.isEmpty()) {
                telemetry.recordRenewal(event, due.get(0), due.size(), unanswered.size());
            }
            round.answered(unanswered.isEmpty());
            unanswered.removeIf(grant -> !grant.isOpen()); // given back meanwhile, or its client was closed
            sayOnce(unanswered, due.size(), failure);
        }
    }

    /** Renews a grant out of turn, to learn whether anybody else waits for its name; no answer counts as yes. */
    void ask(GrantState grant, Consumer<Boolean> alone) {
        if (!grant.beginRenewal()) {
            alone.accept(false);
            return;
        }
        Grant request = grant.toRenew();
        long wallLead = grant.wallLead();
        ReleaseSender.guarded(() -> store.renew(List.of(request))).whenComplete((verdicts, failure) -> {
            Renewal verdict = verdicts == null ? null : verdicts.get(request.id());
            renewed(grant, request, verdict, failure, wallLead);
            alone.accept(verdict != null && verdict.verdict() == Renewal.Verdict.HELD && !verdict.contended());
        });
    }

    /** Once per outage: each grant is tried several times before its deadline. */
    private void sayOnce(List<GrantState> unanswered, int due, @Nullable Throwable failure) {
        if (!unanswered.isEmpty() && failing.compareAndSet(false, true)) {
            Log.warn(() -> "could not renew " + unanswered.size() + " of " + due + " hold(s), such as '"
                    + unanswered.get(0).owner().name() + "', on " + store.description()
                    + "; tried again until their leases end; see that the store is up and can be reached: "
                    + (failure == null ? "it gave no answer for them" : Redacted.text(failure)));
        }
    }

    /** Whether the store answered for this grant. */
    private boolean renewed(
            GrantState grant, Grant request, @Nullable Renewal renewal, @Nullable Throwable failure, long wallLead) {
        Renewal verdict = renewal == null ? Renewal.unknown(0) : renewal;
        boolean unknown = verdict.verdict() == Renewal.Verdict.UNKNOWN;
        try {
            if (unknown) {
                grant.retryRenewal();
                telemetry.renewalFailed(grant, failure);
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
    void extend(HoldState hold, Duration asked) {
        GrantState live = hold.grant;
        Duration lease = live.isSessionBound() ? live.grant().lease() : asked; // a session has its own
        UninterruptedWait.until(() -> beganRenewal(hold), RENEWAL_POLL);
        Renewal renewal = Renewal.unknown(0);
        try {
            Grant request = live.toChange(lease);
            wakeBy(live.dueAt());
            long wallLead = live.wallLead();
            Map<ClaimId, Renewal> answer = Failures.await(
                    ReleaseSender.guarded(() -> store.renew(List.of(request))),
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
                telemetry.renewalFailed(live, null);
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
    private void apply(GrantState live, Renewal renewal, BooleanSupplier held) {
        switch (renewal.verdict()) {
            case LOST -> lose(live, Loss.Cause.GONE_FROM_STORE);
            case UNKNOWN -> examine(live);
            case HELD -> {
                if (held.getAsBoolean()) {
                    telemetry.renewed(live);
                    live.owner().confirmed(live);
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
        return hold.grant.beginRenewal();
    }

    private static void throwIfLost(HoldState hold) {
        if (hold.isLost()) {
            throw hold.lostException();
        }
        if (!hold.isOpen()) {
            throw new IllegalStateException("the hold of '" + hold.name + "' is closed");
        }
    }
}
