package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.etcd.ClaimKeys.Read;
import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.Queued;
import io.etcd.jetcd.ByteSequence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One claim, and its place in the queue of a lock.
 *
 * <pre>
 *   waits   ────────────► ENTERING ── no earlier claims ──────────────────────► ANSWERED: the grant
 *                          │   ▲                                                   ▲
 *                          │   └── the session is gone, or the key ───┐            │
 *                          ▼                                          │            │
 *   tries ─► CHECKING    WAITING ── one that is watched has gone ─► CONFIRMING ────┘
 *             │            │ ▲                                        │   still there, no earlier claims
 *             │ taken      │ └────────── others are left ─────────────┘
 *             ▼            ▼ cancel
 *          ANSWERED ◄── LEAVING: nothing, once the key is gone
 * </pre>
 *
 * <p>Entering is one transaction, which makes the key and reads the queue. The claim then watches those that it waits for,
 * and reads again if the store has changed between that read and the watch. When one has gone, or the watch is broken, the
 * part of the queue up to its own key is read. No event grants anything: a grant takes a read that shows the claim's own
 * key, unbroken and in a session that is alive, and no earlier claim in its way.
 *
 * <p>A try reads first and writes nothing when it is not its turn. A wait outlives unanswered requests and ended sessions;
 * with a new session it goes to the end of the queue.
 *
 * <p>Steps are decided one at a time, under a mutex; what a step returns runs outside it. An answer to a request of an
 * earlier turn is ignored. Thread-safe.
 */
final class PendingClaim implements Pending {
    private static final Runnable NOTHING = () -> {};
    private static final int MOST_REMOVALS = 10;

    private enum Phase {
        /** Waits for a session, or pauses before it tries again. */
        APART,
        CHECKING,
        ENTERING,
        WAITING,
        CONFIRMING,
        LEAVING,
        ANSWERED
    }

    private final Claim claim;
    private final EtcdContext context;
    private final PendingClaims all;
    private final ByteSequence key;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final Queue<Answer> repeated = new ConcurrentLinkedQueue<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Runnable> watches = new ArrayList<>();
    private Phase phase = Phase.APART;
    private int turn;
    /** How often its key was made and had gone, since it waited last. */
    private int removals;

    private int failures;
    private boolean cancelled;
    private boolean sent;
    /** Of its key, as it was read last; 0 if there was none. */
    private long number;
    /** When that was asked: from then on nobody had broken it. */
    private long asked;

    private volatile @Nullable Session session;

    /** Not sent yet. */
    PendingClaim(Claim claim, EtcdContext context, PendingClaims all) {
        this.claim = claim;
        this.context = context;
        this.all = all;
        this.key = context.keys().claim(claim.name(), claim.mode(), claim.id());
    }

    CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** The claim was made again under its id; it is told after the first. */
    void repeated(Answer again) {
        repeated.add(again);
        if (answer.isDone()) {
            tellRepeated();
        }
    }

    void tellRepeated() {
        for (Answer next = repeated.poll(); next != null; next = repeated.poll()) {
            next.follow(answer);
        }
    }

    Claim claim() {
        return claim;
    }

    @Nullable
    Session session() {
        return session;
    }

    void begin() {
        step(() -> is(Phase.APART) ? beginning() : NOTHING);
    }

    @Override
    public void cancel() {
        step(() -> {
            cancelled = true;
            return switch (phase) {
                case WAITING, CONFIRMING -> leaving(null);
                case APART, CHECKING, ENTERING ->
                    failures > 0
                            ? answering(context.errors().noAnswer())
                            : () -> context.requests().limited(answer);
                case LEAVING, ANSWERED -> NOTHING;
            };
        });
    }

    /** It was answered elsewhere: it timed out, or the client is closed. */
    void giveUp() {
        step(() -> is(Phase.ANSWERED) ? NOTHING : answering(null));
    }

    /** The session has ended, and its keys are gone. A claim that leaves deletes its key all the same. */
    void ended(Session gone) {
        step(() ->
                session == gone && !is(Phase.ANSWERED) && !is(Phase.APART) && !is(Phase.LEAVING) ? again() : NOTHING);
    }

    /** Reads again, in case an event was lost. */
    void readAgain() {
        step(() -> is(Phase.WAITING) ? confirming() : NOTHING);
    }

    // ---- joining the queue ----

    private Runnable beginning() {
        turn++;
        return request(() -> context.sessions().of(claim.lease()), opened -> {
            session = opened;
            if (cancelled) {
                return sent ? leaving(null) : answering(null);
            }
            return claim.waits() || sent ? entering(opened) : checking(opened);
        });
    }

    /** A try: whether it would be its turn. */
    private Runnable checking(Session in) {
        enter(Phase.CHECKING);
        Supplier<CompletableFuture<Read>> reading = () -> context.claimKeys().queue(claim.name(), 0);
        return request(() -> context.releases().behind(claim.name(), reading), read -> {
            boolean there = read.queue().stream().anyMatch(this::isMine);
            boolean free = there || Queued.blockers(claim.mode(), read.queue()).isEmpty();
            return free && !cancelled ? entering(in) : answering(null);
        });
    }

    private Runnable entering(Session in) {
        enter(Phase.ENTERING);
        asked = context.time().nanoTime();
        sent = true;
        number = 0;
        String text = new HolderText(in.ttl(), context.time().wallMillis(), claim.holder()).write();
        return request(
                () -> context.claimKeys().enter(claim, in, text, () -> !answer.isDone()),
                entered -> entered(in, entered));
    }

    private Runnable entered(Session in, Read entered) {
        if (entered.queue().size() > ClaimKeys.MOST_BEFORE) {
            return leaving(context.errors().lineTooLong(claim.name(), ClaimKeys.MOST_BEFORE));
        }
        return judged(in, entered);
    }

    // ---- in the queue ----

    /** The next step, by a queue as it was at a revision. */
    private Runnable judged(Session in, Read read) {
        QueuedClaim mine =
                read.queue().stream().filter(this::isMine).findFirst().orElse(null);
        if (in.hasEnded()) {
            return again();
        }
        if (cancelled) {
            return leaving(null);
        }
        if (mine == null) { // not made, since another epoch was expected, or removed by another client
            return number != 0 && ++removals >= MOST_REMOVALS
                    ? leaving(
                            context.errors().unavailable("removes '" + claim.name() + "' as fast as it is made", null))
                    : entering(in);
        }
        number = mine.number();
        if (mine.isBroken() && context.held().keepsOut(claim.id())) { // it was granted before
            return claim.waits() ? waitingFor(List.of(mine), read.revision()) : leaving(null);
        }
        if (mine.isBroken() || mine.lease() != in.lease()) { // or of an earlier session: it would end at any moment
            return request(() -> context.claimKeys().remove(key, mine.number()), removed -> entering(in));
        }
        List<QueuedClaim> blockers = Queued.blockers(
                claim.mode(),
                read.queue().stream()
                        .filter(each -> each.number() < mine.number())
                        .toList());
        if (!blockers.isEmpty()) {
            return claim.waits() ? waitingFor(blockers, read.revision()) : leaving(null);
        }
        if (mine.number() <= claim.floor()) {
            return leaving(context.errors().fellBack(mine.number(), claim.floor()));
        }
        return in.isFresh() ? granted(in, mine.number()) : proving(in, mine.number());
    }

    private boolean isMine(QueuedClaim each) {
        return each.id().equals(claim.id()) && each.mode().equals(claim.mode());
    }

    private Runnable waitingFor(List<QueuedClaim> blockers, long revision) {
        enter(Phase.WAITING);
        turn++;
        removals = 0;
        failures = 0;
        int now = turn;
        return () -> {
            for (QueuedClaim blocker : blockers) {
                watching(
                        now,
                        context.requests()
                                .watchDeletion(
                                        blocker.key(),
                                        revision,
                                        () -> step(() -> missed(now, blockers)),
                                        () -> step(() -> changed(now))));
            }
            all.answered();
        };
    }

    /** The store has changed between the read and the watch: reads once more, and keeps the watches if nothing has gone. */
    private Runnable missed(int since, List<QueuedClaim> watched) {
        Session in = session;
        if (turn != since || !is(Phase.WAITING) || in == null) {
            return NOTHING;
        }
        asked = context.time().nanoTime();
        return request(
                () -> context.claimKeys().queue(claim.name(), number),
                read -> is(Phase.WAITING) && areThere(watched, read) ? NOTHING : unwatched(() -> judged(in, read)));
    }

    /** Whether it still waits behind all of those. */
    private boolean areThere(List<QueuedClaim> watched, Read read) {
        List<Long> numbers = read.queue().stream().map(QueuedClaim::number).toList();
        return read.queue().stream().anyMatch(this::isMine)
                && watched.stream().allMatch(each -> numbers.contains(each.number()));
    }

    private Runnable unwatched(Supplier<Runnable> step) {
        Runnable unwatched = unwatch();
        Runnable then = step.get();
        return () -> {
            unwatched.run();
            then.run();
        };
    }

    /** A watch that was asked for; the claim may have gone on meanwhile. */
    private void watching(int asked, Runnable end) {
        step(() -> {
            if (turn != asked || !is(Phase.WAITING)) {
                return end;
            }
            watches.add(end);
            return NOTHING;
        });
    }

    private Runnable changed(int asked) {
        return turn == asked && is(Phase.WAITING) ? confirming() : NOTHING;
    }

    /** Reads the part of the queue up to its own key. */
    private Runnable confirming() {
        Session in = session;
        if (in == null) {
            return again();
        }
        enter(Phase.CONFIRMING);
        asked = context.time().nanoTime();
        turn++;
        Runnable unwatched = unwatch();
        Runnable reading = request(() -> context.claimKeys().queue(claim.name(), number), read -> judged(in, read));
        return () -> {
            unwatched.run();
            reading.run();
        };
    }

    private Runnable proving(Session in, long number) {
        enter(Phase.CONFIRMING);
        return request(in::prove, alive -> !alive ? again() : cancelled ? leaving(null) : granted(in, number));
    }

    private Runnable granted(Session in, long number) {
        Grant grant = new Grant(claim.id(), claim.name(), claim.mode(), in.ttl(), number, in.beginAt(asked));
        return ending(() -> {
            context.held().add(new Held(grant, in));
            context.claimKeys().granted(claim.id());
            if (!answer.complete(Optional.of(grant))) {
                context.releases().release(grant, context.held().remove(claim.id()));
            }
            all.answered();
        });
    }

    // ---- leaving the queue ----

    /** Deletes the key, unless its holder may still rely on it, then answers. */
    private Runnable leaving(@Nullable HoldfastException why) {
        enter(Phase.LEAVING);
        turn++;
        Runnable unwatched = unwatch();
        return () -> {
            unwatched.run();
            CompletableFuture<Void> removing = context.held().keepsOut(claim.id())
                    ? CompletableFuture.completedFuture(null)
                    : context.claimKeys().remove(claim);
            removing.whenComplete((removed, failure) -> step(
                    () -> answering(failure == null ? why : context.errors().of(failure))));
        };
    }

    private Runnable failed(HoldfastException why) {
        if (why instanceof Errors.LeaseGoneException) {
            Session gone = session;
            Runnable next = again();
            return () -> {
                if (gone != null) {
                    gone.end();
                }
                next.run();
            };
        }
        if (!(why instanceof StoreUnavailableException) || cancelled || !claim.waits()) {
            return answering(why);
        }
        turn++;
        enter(Phase.APART);
        Runnable unwatched = unwatch();
        long pause = Pauses.beforeRetry(failures++);
        return () -> {
            unwatched.run();
            context.time().schedule(this::begin, Duration.ofNanos(pause));
            all.unreachable(this, why);
        };
    }

    /** Goes on in another session. */
    private Runnable again() {
        turn++;
        enter(Phase.APART);
        Runnable unwatched = unwatch();
        return () -> {
            unwatched.run();
            begin();
        };
    }

    /** Answers that it has nothing, or why it failed. */
    private Runnable answering(@Nullable HoldfastException why) {
        return ending(why == null ? () -> answer.complete(Optional.empty()) : () -> answer.completeExceptionally(why));
    }

    /** Nothing comes after what is done then. */
    private Runnable ending(Runnable then) {
        turn++;
        enter(Phase.ANSWERED);
        Runnable unwatched = unwatch();
        return () -> {
            unwatched.run();
            then.run();
        };
    }

    private Runnable unwatch() {
        List<Runnable> ends = List.copyOf(watches);
        watches.clear();
        return () -> ends.forEach(Runnable::run);
    }

    // ---- steps ----

    private boolean is(Phase asked) {
        return phase == asked;
    }

    private void enter(Phase next) {
        phase = next;
    }

    /** An Error is an answer too: the claim has failed, and what it left is withdrawn. */
    private void step(Supplier<Runnable> step) {
        try {
            Runnable then;
            mutex.lock();
            try {
                then = step.get();
            } finally {
                mutex.unlock();
            }
            then.run();
        } catch (Throwable broken) {
            answer.completeExceptionally(context.errors().of(broken));
        }
    }

    /** To be returned by a step: sends a request, and takes the next step by its answer. */
    private <T> Runnable request(Supplier<CompletableFuture<T>> request, Function<T, Runnable> next) {
        int asked = turn;
        return () -> request.get()
                .whenComplete((reply, failure) -> step(() -> {
                    if (asked != turn) {
                        return NOTHING;
                    }
                    return failure == null
                            ? next.apply(reply)
                            : failed(context.errors().of(failure));
                }));
    }
}
