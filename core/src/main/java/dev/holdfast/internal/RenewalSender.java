package dev.holdfast.internal;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends the renewals of grants that are due together, in batches.
 *
 * <p>A store answers a request as a whole. Very many grants are renewed batch by batch, those that end first before the
 * others, so that the first are safe while the last still wait. The next batch is sent when the one before is answered,
 * or has had no answer for a while: a delay of some grants must not cost the others their leases. After a failure the
 * rest is not sent in this round: an unreachable store would take a time-out for each batch. Grants of different
 * {@linkplain dev.holdfast.spi.Store#part parts} of a store are never in one request: an unreachable part delays no answer of the
 * others.
 *
 * <p>Thread-safe.
 */
final class RenewalSender {
    /** Enough to keep a distant store busy, and few enough that the first do not wait long for the last. */
    private static final int MOST_IN_BATCH = 1_000;

    /** All batches of a round are under way after this part of the shortest lease, also where no store answers. */
    private static final int WAIT_DIVISOR = 6;

    private final StoreLink store;
    private final ElapsedTime time;
    private final Telemetry telemetry;
    private final LeaseRenewer renewer;
    /** The parts of the store of which an outage has been logged that is not over. */
    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    RenewalSender(StoreLink store, ElapsedTime time, Telemetry telemetry, LeaseRenewer renewer) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
        this.renewer = renewer;
    }

    /**
     * Has grants renewed that are due together, each of which has begun a renewal. If the store fails to say which part a
     * grant is in, the renewal of that grant has failed, and is tried again as others are.
     */
    void send(List<GrantState> due) {
        Map<String, List<GrantState>> parts = new HashMap<>();
        for (GrantState grant : due) {
            try {
                parts.computeIfAbsent(store.part(grant.grant().name()), part -> new ArrayList<>())
                        .add(grant);
            } catch (Throwable broken) { // of the store, or of its client: the others are renewed
                notSent(List.of(grant), broken);
            }
        }
        parts.forEach((part, those) -> {
            try {
                send(part, those);
            } catch (Throwable broken) {
                notSent(those, broken);
            }
        });
    }

    /** An Error, such as of memory, came before their request could be sent: they are due again soon. */
    private void notSent(List<GrantState> due, Throwable why) {
        due.forEach(grant -> renewer.renewed(grant, grant.grant(), null, why, time.slept()));
        logOnce("", due, due.size(), why);
    }

    private void send(String part, List<GrantState> due) {
        long now = time.nanoTime();
        long shortest = shortestLease(due);
        // else all are under way in time in any order, and to sort very many takes as long as to examine them
        if (due.size() <= MOST_IN_BATCH || due.stream().anyMatch(grant -> grant.deadline() - now < shortest / 2)) {
            due.sort(Comparator.comparingLong(grant -> grant.deadline() - now));
        }
        int batches = (due.size() + MOST_IN_BATCH - 1) / MOST_IN_BATCH;
        Round round = new Round(part, batches);
        Duration longest = Duration.ofNanos(shortest / WAIT_DIVISOR / batches);
        CompletableFuture<Void> turn = CompletableFuture.completedFuture(null);
        for (int from = 0; from < due.size(); from += MOST_IN_BATCH) {
            List<GrantState> some = due.subList(from, Math.min(from + MOST_IN_BATCH, due.size()));
            try {
                turn = new Batch(round, new ArrayList<>(some)).sendAfter(turn, longest);
            } catch (Throwable broken) {
                notSent(some, broken);
                round.answered(false);
            }
        }
    }

    private static long shortestLease(List<GrantState> due) {
        return due.stream()
                .mapToLong(grant -> Durations.nanos(grant.grant().lease()))
                .min()
                .orElse(0);
    }

    /** The batches of one tick, about one part of the store. */
    private final class Round {
        private final String part;
        private final int batches;
        private final AtomicInteger left;
        private final AtomicBoolean missed = new AtomicBoolean();
        /** Otherwise each of very many batches would fail within the one before. */
        private final SerialRunner turns = new SerialRunner();

        Round(String part, int batches) {
            this.part = part;
            this.batches = batches;
            this.left = new AtomicInteger(batches);
        }

        /** An outage is over when all that was due has been answered for. */
        void answered(boolean whole) {
            if (!whole) {
                missed.set(true);
            }
            if (left.decrementAndGet() == 0 && !missed.get()) {
                failing.remove(part);
            }
        }
    }

    /** Grants that are renewed by one request. */
    private final class Batch {
        private final Round round;
        private final List<GrantState> due;
        private List<Grant> request = List.of();
        private long slept;
        private FlightEvents.@Nullable Renewed event;

        Batch(Round round, List<GrantState> due) {
            this.round = round;
            this.due = due;
        }

        /**
         * Sends the request when its turn has come.
         *
         * @param longest how long the next batch waits for the answer to this one at most
         * @return the turn of the next batch
         */
        CompletableFuture<Void> sendAfter(CompletableFuture<Void> turn, Duration longest) {
            CompletableFuture<Void> next = new CompletableFuture<>();
            turn.thenCompose(mine -> {
                        if (round.batches > 1) {
                            time.schedule(() -> next.complete(null), longest);
                        }
                        return ask();
                    })
                    .whenComplete((verdicts, failure) -> { // one, and last: nothing may fail once it is sent
                        try {
                            answered(verdicts, failure);
                        } finally {
                            round.turns.run(() -> goOn(next, failure));
                        }
                    });
            return next;
        }

        private static void goOn(CompletableFuture<Void> next, @Nullable Throwable failure) {
            if (failure == null) {
                next.complete(null);
            } else {
                next.completeExceptionally(failure);
            }
        }

        private CompletableFuture<Map<ClaimId, Renewal>> ask() {
            due.removeIf(this::hasEnded);
            if (due.isEmpty()) {
                return CompletableFuture.completedFuture(Map.of());
            }
            request = due.stream().map(GrantState::toRenew).toList();
            slept = time.slept();
            event = FlightEvents.areRecorded() ? FlightEvents.beginRenewal() : null;
            return store.renew(request);
        }

        /** While it waited for its turn it may have been released, or lost. */
        private boolean hasEnded(GrantState grant) {
            boolean over = !grant.isOpen();
            if (over) {
                renewer.end(grant, true);
            }
            return over;
        }

        /** Also if it was not sent, after a failure of those before it. */
        private void answered(@Nullable Map<ClaimId, Renewal> verdicts, @Nullable Throwable failure) {
            List<GrantState> unanswered = new ArrayList<>();
            for (int i = 0; i < due.size(); i++) {
                Grant asked = request.isEmpty() ? due.get(i).grant() : request.get(i);
                Renewal verdict = verdicts == null ? null : verdicts.get(asked.id());
                if (!renewer.renewed(due.get(i), asked, verdict, failure, slept)) {
                    unanswered.add(due.get(i));
                }
            }
            if (!due.isEmpty()) {
                telemetry.recordRenewal(event, due.get(0), due.size(), unanswered.size());
            }
            round.answered(unanswered.isEmpty());
            unanswered.removeIf(grant -> !grant.isOpen()); // released meanwhile, or its client was closed
            logOnce(round.part, unanswered, due.size(), failure);
        }
    }

    /** Once per outage: each grant is tried several times before its deadline. */
    private void logOnce(String part, List<GrantState> unanswered, int due, @Nullable Throwable failure) {
        if (!unanswered.isEmpty() && failing.add(part)) {
            Log.warn(() -> "could not renew " + unanswered.size() + " of " + due + " hold(s), such as '"
                    + unanswered.get(0).lock().name.name() + "', on " + store.description()
                    + "; tried again until their leases end; see that the store is up and can be reached: "
                    + (failure == null ? "it gave no answer for them" : Redacted.text(failure)));
        }
    }
}
