package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Releases to the store: of grants that ended, and of anything that a claim of unknown outcome may have left there.
 *
 * <p>Both are sent at once, as downgrades are, and repeated while the store does not answer. A claim or a query
 * of a name sends an unconfirmed release of that name first: where the store carries out requests in order, the client
 * then does not find its own closed hold.
 *
 * <p>A claim whose outcome is unknown is withdrawn at once, and again until a withdrawal is answered that was sent a third of its
 * lease later: an earlier one may have reached the store before the claim did. In an outage each try leaves such a claim. So, where
 * a lease ends what reached the store, few are withdrawn again: the first, which met the end of the connection, and the last,
 * which met its return. Those in between hardly reached it. Callers do not wait for any of this. Thread-safe.
 */
final class ReleaseSender {
    private static final Duration POLL = Duration.ofMillis(1);
    private static final Duration FIRST_WAIT = Duration.ofMillis(250);
    /** What is refused so often in a row is given up when the client is being closed. */
    private static final int REFUSALS = 3;
    /** So many of the first claims without an outcome are withdrawn again, and so many of the last. */
    private static final int MOST = 5_000;

    private final StoreLink store;
    private final TimeSource time;
    private final Telemetry telemetry;
    private volatile boolean closing;
    private volatile boolean closed;
    /** By the name in the store that each is about. */
    private final Map<CompletableFuture<?>, String> underWay = new ConcurrentHashMap<>();
    /** The releases that the store has not confirmed, by the name in the store. */
    private final Map<String, Set<RepeatedRequest>> unconfirmed = new ConcurrentHashMap<>();
    /** The withdrawals to be sent again: those that came first, and of all later ones the last. */
    private final Set<RepeatedRequest> firstWithdrawals = ConcurrentHashMap.newKeySet();

    private final Latest<RepeatedRequest> lastWithdrawals = new Latest<>(MOST);

    ReleaseSender(StoreLink store, TimeSource time, Telemetry telemetry) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
    }

    /** Releases a grant. */
    CompletableFuture<Boolean> release(Effects.Release of) {
        long sent = time.nanoTime();
        Grant grant = of.grant().grant();
        HoldState last = of.last();
        return track(grant.name(), store.release(grant).whenComplete((held, failure) -> {
            try {
                if (failure != null) {
                    failed(of, failure, sent);
                } else if (!held && last != null) {
                    telemetry.lostUnnoticed(last, Loss.Cause.GONE_FROM_STORE);
                }
            } finally {
                of.answer().complete(failure == null && held); // a failure has completed it before
            }
        }));
    }

    /** A release has failed, perhaps with an Error before it was sent: it is sent again. */
    void failed(Effects.Release of, Throwable why, long sent) {
        if (!of.answer().isDone()) {
            GrantState grant = of.grant();
            try {
                telemetry.releaseFailed(grant, of.last(), why);
            } finally {
                try {
                    releaseAgain(grant.grant(), grant.sessionBound, why, sent);
                } finally {
                    of.answer().completeExceptionally(why);
                }
            }
        }
    }

    /** Keeps only the grant, so that the holds of an ended grant can be collected. */
    private void releaseAgain(Grant grant, boolean ofSession, Throwable why, long sent) {
        RepeatedRequest again =
                new RepeatedRequest(() -> store.release(grant), endOf(grant.lease(), ofSession), grant.lease(), sent);
        String name = grant.name();
        unconfirmed.compute(name, (same, others) -> {
            Set<RepeatedRequest> all = others == null ? ConcurrentHashMap.newKeySet() : others;
            all.add(again);
            return all;
        });
        again.over.thenRun(() -> unconfirmed.computeIfPresent(name, (same, all) -> {
            all.remove(again);
            return all.isEmpty() ? null : all;
        }));
        again.ended(why, sent);
        if (closing) {
            again.hurry();
        }
    }

    /**
     * Sends what the store has not confirmed of a name, before a claim or a query of it.
     *
     * @return whether a claim that follows now may have found what was to be released; null if all is confirmed
     */
    @Nullable
    BooleanSupplier sendUnconfirmed(String name) {
        Set<RepeatedRequest> all = unconfirmed.get(name);
        if (all == null) {
            return null;
        }
        all.forEach(RepeatedRequest::sendNow);
        List<RepeatedRequest> open =
                all.stream().filter(each -> !each.over.isDone()).toList();
        if (open.isEmpty()) {
            return null;
        }
        boolean follows = store.capabilities().ordered(); // else it may overtake them
        return () -> !follows || open.stream().anyMatch(each -> !each.over.isDone());
    }

    /**
     * Asks the store to let readers of other clients in, beside the holder of a grant. Until the store answers, those readers
     * wait. So the request is repeated until it is answered, or the grant ends.
     *
     * @return the answer; never completes if there is none
     */
    CompletableFuture<Boolean> downgrade(GrantState grant) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        Supplier<CompletableFuture<Boolean>> request =
                () -> store.downgrade(grant.grant()).whenComplete((done, failure) -> {
                    if (failure == null) {
                        answer.complete(done);
                    }
                });
        long sent = time.nanoTime();
        RepeatedRequest repeated = new RepeatedRequest(
                request, () -> !grant.isOpen(), grant.grant().lease(), sent);
        request.get().whenComplete((done, failure) -> repeated.ended(failure, sent));
        return answer;
    }

    /** Sends what the store has not confirmed at once, and from now on after short waits. */
    void beginClose() {
        closing = true;
        unconfirmed.values().forEach(all -> all.forEach(RepeatedRequest::hurry));
    }

    /** Sends nothing again from now on. */
    void close() {
        closed = true;
    }

    /** Withdraws a claim now and, whatever the answer, again. */
    void withdraw(Claim claim) {
        long sent = time.nanoTime();
        track(
                claim.name(),
                store.withdraw(claim).whenComplete((answer, failure) -> withdrawAgain(claim, failure, sent)));
    }

    private void withdrawAgain(Claim claim, @Nullable Throwable failure, long sent) {
        boolean ofSession = store.capabilities().sessionBound();
        long countsFrom = sent + Durations.nanos(claim.lease()) / 3;
        RepeatedRequest again = new RepeatedRequest(
                () -> store.withdraw(claim), endOf(claim.lease(), ofSession), claim.lease(), countsFrom);
        if (!ofSession) { // what a session has is ended by nothing else
            keepFew(again);
        }
        again.ended(failure, sent);
    }

    /** Whether a lease that begins now is over; a session may outlive its lease. */
    private BooleanSupplier endOf(Duration lease, boolean ofSession) {
        long begin = time.nanoTime();
        return () -> !ofSession && time.nanoTime() - begin >= Durations.nanos(lease);
    }

    private void keepFew(RepeatedRequest withdrawal) {
        withdrawal.over.thenRun(() -> {
            firstWithdrawals.remove(withdrawal);
            lastWithdrawals.remove(withdrawal);
        });
        boolean first = firstWithdrawals.size() < MOST && firstWithdrawals.add(withdrawal);
        RepeatedRequest tooMany = first ? null : lastWithdrawals.add(withdrawal);
        if (tooMany != null) {
            tooMany.giveUp();
        }
    }

    /**
     * Waits until nothing comes here any more, by the condition, and it is {@linkplain #isQuiet quiet}, or the time limit
     * has passed. Asked in this order: what leaves a queue between the two questions is under way here by the second.
     */
    void awaitQuiet(Duration limit, BooleanSupplier nothingComes) {
        long end = System.nanoTime() + limit.toNanos();
        SystemTime.awaitUninterrupted(
                () -> (nothingComes.getAsBoolean() && isQuiet()) || System.nanoTime() - end >= 0, POLL);
    }

    /** Whether nothing is under way, and no release is unconfirmed: in this order, since what fails goes on to the second. */
    boolean isQuiet() {
        return underWay.isEmpty() && unconfirmed.isEmpty();
    }

    /** Completes once all that is under way now is answered or has failed: of one name, or of all where that is null. */
    CompletableFuture<Void> settled(@Nullable String inStore) {
        CompletableFuture<?>[] now = underWay.entrySet().stream()
                .filter(each -> inStore == null || each.getValue().equals(inStore))
                .map(Map.Entry::getKey)
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(now).exceptionally(failed -> null);
    }

    private <T> CompletableFuture<T> track(String inStore, CompletableFuture<T> sent) {
        underWay.put(sent, inStore);
        sent.whenComplete((answer, failure) -> underWay.remove(sent));
        return sent;
    }

    /** The wait before the next request: its length, when it began, and how long the last request took; in nanoseconds. */
    private static final class Wait {
        final long length;
        final long took;
        final long since;
        volatile @Nullable Scheduled timer;

        Wait(long length, long took, long since) {
            this.length = length;
            this.took = took;
            this.since = since;
        }
    }

    /**
     * A release, a withdrawal or a downgrade that the store did not confirm, and that is sent until it does; a withdrawal also
     * if it was answered too early to count.
     *
     * <p>The first wait is a quarter of a second, because a server that was restarted is often back within a second. Each
     * further wait is twice as long, up to a third of the lease. So the delay after an outage is at most about the length of
     * the outage, and the time-out of one request. Except while the client closes, a wait is at least as long as the last
     * request took: a request that waits for a locked row uses its connection for half of the time at most.
     *
     * <p>With a lease, the repetition ends with the lease, which ends the grant. A session may outlive it, so there the
     * repetition continues; so it does for a downgrade, whose grant is renewed. A refusal does not end it, except the third in
     * a row while the client closes. Thread-safe.
     */
    private final class RepeatedRequest {
        private final Supplier<CompletableFuture<Boolean>> request;
        private final BooleanSupplier needless;
        private final long lease;
        private final long countsFrom;
        /** Completes when it is no longer repeated. */
        final CompletableFuture<Void> over = new CompletableFuture<>();
        /** The present wait; null while a request is under way. The thread that removes it sends the request. */
        private final AtomicReference<@Nullable Wait> waiting = new AtomicReference<>();

        private volatile boolean hurried;
        /** Consecutive ones. Written only while a request is under way. */
        private int refusals;

        /**
         * A request that was sent; {@link #ended} begins to repeat it.
         *
         * @param needless whether it is sent no more, though the client is open
         * @param countsFrom by {@code nanoTime}; the answer to what was sent before does not count
         */
        RepeatedRequest(
                Supplier<CompletableFuture<Boolean>> request,
                BooleanSupplier needless,
                Duration lease,
                long countsFrom) {
            this.request = request;
            this.needless = needless;
            this.lease = Durations.nanos(lease);
            this.countsFrom = countsFrom;
        }

        /** The first request, which was sent at that time, has its answer, or failed. */
        void ended(@Nullable Throwable failure, long sent) {
            ended(failure, sent, firstWait());
        }

        private void ended(@Nullable Throwable failure, long sent, long nextLength) {
            long now = time.nanoTime();
            if (failure == null && sent - countsFrom < 0) {
                await(Math.max(0, countsFrom - now), 0, firstWait());
            } else if (failure == null || isFinal(Failures.cause(failure))) {
                over.complete(null);
            } else {
                long length = hurried ? longestWait() : Math.max(nextLength, now - sent);
                await(length, now - sent, Math.min(2 * length, longestWait()));
            }
        }

        /** Sends the request now, unless less time has passed since it failed than it took. */
        void sendNow() {
            Wait present = waiting.get();
            if (present != null && time.nanoTime() - present.since >= present.took) {
                end(present, present.length);
            }
        }

        /** Sends it at once, and from now on after short waits: the client is being closed. */
        void hurry() {
            hurried = true;
            end(waiting.get(), longestWait());
        }

        /** Sends it no more. */
        void giveUp() {
            over.complete(null);
            end(waiting.get(), 0);
        }

        private void await(long length, long took, long nextLength) {
            Wait present = new Wait(length, took, time.nanoTime());
            waiting.set(present);
            Runnable sends = () -> end(present, nextLength);
            Duration wait = Duration.ofNanos(length);
            Effects.surely(() -> present.timer = time.schedule(sends, wait)); // nothing else may repeat it
            if (over.isDone() || (hurried && length > longestWait())) { // giveUp() or hurry() ran meanwhile
                end(present, longestWait());
            }
        }

        /** Ends a wait, if there is one and nobody else has ended it. */
        private void end(@Nullable Wait present, long nextLength) {
            if (present != null && waiting.compareAndSet(present, null)) {
                Scheduled timer = present.timer;
                if (timer != null) {
                    timer.cancel();
                }
                send(nextLength);
            }
        }

        private void send(long nextLength) {
            if (over.isDone() || closed || needless.getAsBoolean()) {
                over.complete(null);
                return;
            }
            long sent = time.nanoTime();
            request.get().whenComplete((answer, failure) -> ended(failure, sent, nextLength));
        }

        private boolean isFinal(Throwable failure) {
            refusals = failure instanceof StoreRefusedException ? refusals + 1 : 0;
            return failure instanceof ClientClosedException || (refusals >= REFUSALS && hurried);
        }

        private long firstWait() {
            return Math.min(FIRST_WAIT.toNanos(), longestWait());
        }

        private long longestWait() {
            return hurried ? Math.min(FIRST_WAIT.toNanos(), lease / 3) : lease / 3;
        }
    }
}
