package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import dev.holdfast.spi.support.Pauses;
import io.etcd.jetcd.Response;
import io.etcd.jetcd.options.GetOption;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One lease of etcd, which holds the keys of this client's claims that ask for a lease that long, and how far its life is
 * proved.
 *
 * <p>The leader alone ends leases, by its own steady clock, and a keep-alive is answered by the leader without asking the
 * others: also by one that was stopped or cut off, and does not know yet that the others have elected another, which
 * counts each lease from its own election. So a keep-alive that was answered proves nothing by itself. It does once a read
 * that was sent after its answer is agreed to by a majority in the same term:
 *
 * <pre>
 *   client   keep-alive ──► answered, term 7 ──► read ──► answered, term 7
 *   leader              counts from here            still the leader: a majority says so
 *            └── the lease lives at least from here on for its length
 * </pre>
 *
 * A leader that is elected later begins to count later. In another term the answer is thrown away and the deadline
 * stays. Creating a lease is a write, and needs no such proof.
 *
 * <p>It is kept alive while a claim uses it; else it ends by itself, and leaves nothing. It also ages while the machine sleeps,
 * by {@link ElapsedTime}.
 *
 * <p>A claim without an answer may be carried out at any time later. {@link #epoch} prevents that: a claim's transaction
 * demands that the key {@link Keys#session} has the version that the client knows, which is none at first. Whatever removes
 * a claim without an answer writes that key in the same transaction, and from then on the claim's is refused. Thread-safe.
 */
final class Session {
    /** Attempts of one proof, all begun within a request's limit; one may reach a member that hangs. */
    private static final int ATTEMPTS = 4;

    private static final long SOON = Duration.ofMillis(1).toNanos();
    /** A proof this young serves all batches of one round of renewals. */
    private static final Duration SHARED = Duration.ofMillis(50);

    private static final GetOption COUNT =
            GetOption.builder().withCountOnly(true).build();

    private final Requests requests;
    private final Keys keys;
    private final ElapsedTime time;
    private final Owner owner;
    private final long lease;
    private final Duration ttl;
    private final AtomicLong epoch = new AtomicLong();
    private final AtomicBoolean used = new AtomicBoolean();
    private final AtomicBoolean beating = new AtomicBoolean();
    private final AtomicReference<@Nullable CompletableFuture<Boolean>> proof = new AtomicReference<>();
    /** When the lease was surely alive. */
    private volatile Moment last;

    private volatile boolean ended;

    /** Hears of a session, and says whether it is needed. */
    interface Owner {
        /** Whether a claim waits in it or a grant belongs to it. */
        boolean needs(Session session);

        /** It is over: all its keys are gone. */
        void ended(Session session);

        /** It could not be kept alive now. */
        void unreachable(HoldfastException why);

        /** It was proved, so the servers answer. */
        void reachable();
    }

    /**
     * @param asked when the lease was asked for
     */
    Session(Requests requests, Keys keys, ElapsedTime time, Owner owner, long lease, Duration ttl, Moment asked) {
        this.requests = requests;
        this.keys = keys;
        this.time = time;
        this.owner = owner;
        this.lease = lease;
        this.ttl = ttl;
        this.last = asked;
    }

    /** The lease's id. */
    long lease() {
        return lease;
    }

    /** How long a grant lives from {@link #begin()} on. */
    Duration ttl() {
        return ttl;
    }

    /** From when on the lease surely lives for its length, by {@code nanoTime}. */
    long begin() {
        return time.asNanoTime(last);
    }

    /** The same, for a key that was read by a request of that time: broken after that, it goes one lease later, and no sooner. */
    long beginAt(long asked) {
        long proved = begin();
        return proved - asked < 0 ? proved : asked;
    }

    boolean hasEnded() {
        return ended;
    }

    /** The version of its key that a claim must find. */
    long epoch() {
        return epoch.get();
    }

    /** The key was found in a version. */
    void raise(long version) {
        epoch.accumulateAndGet(version, Math::max);
    }

    /** Whether another claim may begin in it, after a proof if it is not fresh. */
    boolean isUsable() {
        return !ended && (isYoungerThan(ttl) || owner.needs(this));
    }

    /**
     * Whether the proof is recent enough to leave a grant half of its lease. Never after a sleep, whose length is known
     * only roughly.
     */
    boolean isFresh() {
        return isYoungerThan(ttl.dividedBy(2)) && time.slept() == last.slept();
    }

    private boolean isYoungerThan(Duration age) {
        return time.since(last) < age.toNanos();
    }

    /** Keeps it alive for a while. */
    void use() {
        used.set(true);
        if (beating.compareAndSet(false, true)) {
            planBeat();
        }
    }

    /** The lease is gone; reported once. */
    void end() {
        if (!ended) {
            ended = true;
            owner.ended(this);
        }
    }

    /** Proves it, unless a proof is recent enough to be shared. */
    CompletableFuture<Boolean> proveForAll() {
        return isYoungerThan(SHARED) && !ended ? CompletableFuture.completedFuture(true) : prove();
    }

    /** Keeps the lease alive, and proves that; false if it has ended. Asked by several at a time, it is done once. */
    CompletableFuture<Boolean> prove() {
        if (ended) {
            return CompletableFuture.completedFuture(false);
        }
        CompletableFuture<Boolean> mine = new CompletableFuture<>();
        CompletableFuture<Boolean> underWay = proof.compareAndExchange(null, mine);
        if (underWay != null) {
            return underWay;
        }
        attempt(mine, 1, time.nanoTime() + requests.limit().toNanos());
        return mine;
    }

    private void attempt(CompletableFuture<Boolean> answer, int number, long until) {
        guarded(answer, () -> {
            Duration within = shorter(requests.limit().dividedBy(ATTEMPTS - 1), ttl.dividedBy(6));
            Moment sent = time.now();
            requests.keepAlive(lease, within)
                    .handle((beat, failure) -> requests.get(
                                    keys.layout(), COUNT, within) // by which jetcd logs in again
                            .thenApply(read -> isSameTerm(beat, failure, read)))
                    .thenCompose(proved -> proved)
                    .whenComplete((proved, failure) ->
                            guarded(answer, () -> attempted(answer, number, until, sent, proved, failure)));
        });
    }

    private void attempted(
            CompletableFuture<Boolean> answer,
            int number,
            long until,
            Moment sent,
            @Nullable Boolean proved,
            @Nullable Throwable failure) {
        HoldfastException why = failure == null ? null : requests.why(failure);
        if (why instanceof Errors.LeaseGoneException) {
            end();
            done(answer, false, null);
        } else if (Boolean.TRUE.equals(proved)
                && time.since(sent) < ttl.toNanos()) { // else the machine slept meanwhile
            last = sent; // one proof at a time: it was sent after the one before was answered
            done(answer, true, null);
            owner.reachable();
        } else if (number < ATTEMPTS && time.nanoTime() - until < 0 && !requests.haveEnded()) {
            attempt(answer, number + 1, until);
        } else {
            done(answer, false, why == null ? requests.leaderChanged() : why);
        }
    }

    /** An Error is an answer too: else all that ask later would wait for that of this proof. */
    private void guarded(CompletableFuture<Boolean> answer, Runnable step) {
        try {
            step.run();
        } catch (Throwable broken) {
            proof.compareAndSet(answer, null);
            answer.completeExceptionally(broken);
        }
    }

    private boolean isSameTerm(@Nullable Response beat, @Nullable Throwable failure, Response read) {
        if (beat == null) {
            throw requests.why(Objects.requireNonNull(failure));
        }
        return beat.getHeader().getRaftTerm() == read.getHeader().getRaftTerm();
    }

    private void done(CompletableFuture<Boolean> answer, boolean alive, @Nullable HoldfastException why) {
        proof.compareAndSet(answer, null); // first: one that asks from now on wants a later proof
        if (why == null) {
            answer.complete(alive);
        } else {
            answer.completeExceptionally(why);
        }
    }

    private void beat() {
        try {
            boolean wanted = used.getAndSet(false) || owner.needs(this);
            if (ended || !wanted) {
                beating.set(false);
                if (!ended && used.get()) {
                    use();
                }
            } else if (isYoungerThan(ttl.dividedBy(3))) {
                planBeat();
            } else {
                prove().whenComplete((alive, failure) -> proved(failure));
            }
        } catch (Throwable broken) {
            beatAgain();
        }
    }

    private void proved(@Nullable Throwable failure) {
        if (failure == null) {
            planBeat();
        } else {
            beatAgain();
            owner.unreachable(requests.why(failure));
        }
    }

    /** When the last proof is a third of the lease old. */
    private void planBeat() {
        beatAfter(Math.max(SOON, begin() + ttl.toNanos() / 3 - time.nanoTime()));
    }

    private void beatAgain() {
        used.set(true);
        if (!requests.haveEnded()) {
            beatAfter(Pauses.beforeRetry(ATTEMPTS));
        }
    }

    private void beatAfter(long nanos) {
        try {
            time.schedule(this::beat, Duration.ofNanos(nanos));
        } catch (Throwable noThread) {
            beating.set(false); // the next use begins again
        }
    }

    private static Duration shorter(Duration one, Duration two) {
        return one.compareTo(two) < 0 ? one : two;
    }
}
