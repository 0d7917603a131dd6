package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one client whose holds of a name may stand beside others: its readers, or those who want permits of a
 * semaphore. What the store gave for them are {@link SharedGrant}s, any number of them; one claim at most waits in the store.
 *
 * <pre>
 *   reader comes ──► may it join a seat? ── yes ──► a hold beside the others there, without the store
 *                         │ no
 *   permits wanted ───────┴──► the queue ──► one claim ──► a seat: for all readers who waited, or for one of permits
 *
 *   hold closed ──► others have holds by this seat? ── yes ──► it stays
 *                         │ no
 *                  permits wanted here, and within the bounds ──► the next hold, without the store
 *                         │ no
 *                  the grant lingers until the store sends, and goes back
 * </pre>
 *
 * <p>Readers of one client share a grant, and one token: they do not conflict with each other. None joins once a writer
 * of this client waits, nor one who came after that writer when a new grant arrives; and as writers of other clients are
 * known to the store alone, it is asked for them before the bounds of hand-over have passed, and again each time. So a
 * writer waits for readers who were there before it, and for those bounds at most. (Courtois, Heymans and Parnas,
 * "Concurrent Control with 'Readers' and 'Writers'", 1971, told of both kinds of starvation; that those who waited for
 * one grant go in together is the idea of phase-fair locks, Brandenburg and Anderson, 2009.)
 *
 * <p>Permits pass on as an exclusive lock's grant does: to the next in the queue if he wants as many and the bounds
 * allow it. One who wants more than others is not overtaken: those behind him wait for him.
 *
 * <p>Unlike {@link ExclusiveQueue} it takes its mutex for whoever comes. Thread-safe.
 */
final class SharedQueue extends WaitQueue {
    private final boolean shared;

    // Guarded by the mutex.
    private final Map<GrantState, SharedGrant> seats = new LinkedHashMap<>();
    private final List<ClaimInFlight> tries = new ArrayList<>();
    private @Nullable ClaimInFlight claiming;
    private boolean retired;

    /** Releases that a claim may not follow yet. */
    private final Set<CompletableFuture<Void>> goingBack = ConcurrentHashMap.newKeySet();
    /** Sends the claims of those who still wait after an answer; made within it, each would nest in the one before. */
    private final SerialRunner turns = new SerialRunner();

    /** A pool nobody is in yet. */
    SharedQueue(EngineContext context, LockName name) {
        super(context, name);
        this.shared = name.mode().kind() == LockMode.SHARED;
    }

    // ---- what callers do ----

    @Override
    boolean submit(Waiter waiter) {
        boolean[] taken = {true};
        transition(() -> {
            if (retired) {
                taken[0] = false;
                return NOTHING;
            }
            recordPlace(waiter, !seats.isEmpty());
            if (waiters.isEmpty()) {
                Optional<Runnable> entered = enterSomewhere(waiter);
                if (entered.isPresent()) {
                    return entered.get();
                }
            }
            return ask(waiter);
        });
        return taken[0];
    }

    @Override
    boolean isRetired() {
        return retired;
    }

    private Runnable ask(Waiter waiter) {
        if (!waiter.waits && !waiters.isEmpty()) {
            return refuse(waiter); // others of this client are before this one
        }
        warnIfItsOwn(waiter);
        Runnable first = giveBackFree(); // it does not suit, and would stand in the way
        if (waiter.waits) {
            waiters.add(waiter);
            return both(first, claimNext());
        }
        ClaimInFlight calledOff = unwanted();
        Runnable claim = claimFor(waiter);
        // behind a claim that nobody wants any more, which the store may still have in its queue
        return both(
                first,
                calledOff == null
                        ? claim
                        : () -> {
                            calledOff.cancel(); // who left may not have called it off yet
                            calledOff.settled().whenComplete((gone, failed) -> claim.run());
                        });
    }

    private Runnable giveBackFree() {
        List<Runnable> back = new ArrayList<>();
        for (SharedGrant seat : List.copyOf(seats.values())) {
            if (seat.isFree()) {
                back.add(giveBack(seat));
            }
        }
        return all(back);
    }

    @Override
    void claimBehind(Runnable claim) {
        transition(() -> both(giveBackFree(), nextIfIdle()));
        afterOwnReleases(claim);
    }

    /** Watches a reader whose thread may wait for itself: it writes, or it reads and a writer is in between. */
    private void warnIfItsOwn(Waiter reader) {
        Thread thread = reader.thread;
        if (!shared || !reader.waits || thread == null) {
            return;
        }
        openHolds()
                .filter(held -> held.isOwnedBy(thread))
                .findFirst()
                .ifPresent(held -> SelfWait.watch(context, held, reader));
        if (context.queues().find(name.inStore(), LockMode.EXCLUSIVE) instanceof ExclusiveQueue writers) {
            writers.warnIfItsOwn(reader);
        }
    }

    private Stream<HoldState> openHolds() {
        return seats.values().stream().flatMap(seat -> seat.holds().stream());
    }

    /** A seat that this waiter can have a hold by at once, without asking the store. */
    private Optional<Runnable> enterSomewhere(Waiter waiter) {
        for (SharedGrant seat : List.copyOf(seats.values())) {
            if (mayEnter(seat, waiter)) {
                Runnable ask = shared ? askForWritersInTime(seat, waiter.options) : NOTHING;
                return seat.enter(waiter).map(entered -> both(entered, ask));
            }
        }
        return Optional.empty();
    }

    private boolean mayEnter(SharedGrant seat, Waiter waiter) {
        return seat.suits(waiter) && !isBehindWriter(waiter);
    }

    private boolean isBehindWriter(Waiter reader) {
        return shared
                && context.queues().find(name.inStore(), LockMode.EXCLUSIVE) instanceof ExclusiveQueue writers
                && writers.isWaitedForBefore(reader);
    }

    /** A claim for more permits than the first in the queue wants, or for fewer, is called off: he would wait for it. */
    @Override
    @Nullable
    ClaimInFlight unwanted() {
        ClaimInFlight waiting = claiming;
        Waiter first = waiters.peek();
        return first != null && waiting != null && first.mode.equals(waiting.claim.mode()) ? null : waiting;
    }

    /** The holds of this client alone do not say whether more would fit. */
    @Override
    boolean isSurelyHeldHere() {
        return false;
    }

    @Override
    public CompletableFuture<Boolean> endHold(HoldState closing) {
        CompletableFuture<Boolean> givenBack = new CompletableFuture<>();
        transition(() -> {
            GrantState live = closing.grant;
            SharedGrant seat = seats.get(live);
            Loss.Cause lost = live.lossCause();
            if (seat == null || lost != null || !closing.close()) {
                givenBack.complete(false);
                return seat != null && lost != null ? lostStep(seat, lost) : NOTHING;
            }
            seat.leave(closing);
            context.telemetry().released(closing);
            Runnable then = seat.isFree() ? freed(seat, closing.options.awaitRelease()) : NOTHING;
            givenBack.complete(live.isGivenBack());
            return both(() -> context.telemetry().recordReleased(closing), then);
        });
        return givenBack;
    }

    /** The last hold by a seat was closed. */
    private Runnable freed(SharedGrant seat, boolean goesBackNow) {
        Waiter first = waiters.peek();
        if (first != null && !shared && mayEnter(seat, first)) {
            return serve(seat);
        }
        if (goesBackNow || first != null || !seat.grant.isValid()) {
            return release(seat);
        }
        return seat.linger() ? () -> context.beforeSending(name, () -> transition(() -> endOfLinger(seat))) : NOTHING;
    }

    /** The store is about to send, and nobody came back for the grant. */
    private Runnable endOfLinger(SharedGrant seat) {
        seat.endLinger();
        return seats.get(seat.grant) == seat && seat.isFree() ? release(seat) : NOTHING;
    }

    // ---- what the store and the renewer report ----

    private void answered(ClaimInFlight of, @Nullable Optional<Grant> answer, @Nullable Throwable failure) {
        transition(() -> {
            if (claiming == of) {
                claiming = null;
            }
            tries.remove(of);
            if (failure != null || answer == null) {
                Throwable why = failure != null ? failure : new IllegalStateException("the store answered null");
                return both(failed(of, why), nextIfIdle());
            }
            if (answer.isEmpty()) {
                return both(of.claim.waits() ? NOTHING : notGranted(of.asker), nextIfIdle());
            }
            return granted(of, answer.get());
        });
    }

    private Runnable granted(ClaimInFlight of, Grant given) {
        GrantState live = begin(given, of);
        Optional<Throwable> refused = GrantCheck.whyNot(context, live, of);
        if (refused.isPresent()) {
            return both(failed(of, refused.get()), nextIfIdle());
        }
        if (of.claim.waits() && (of.isKnownLost() || of.isInDoubt() || live.hasSlept())) {
            return both(
                    () -> context.releaseSender().withdraw(of.claim), nextIfIdle()); // for those who wait: claimed anew
        }
        SharedGrant seat = sit(live);
        if (of.claim.waits()) {
            return serve(seat);
        }
        return seat.enter(of.asker).orElseGet(() -> serve(seat));
    }

    private SharedGrant sit(GrantState live) {
        SharedGrant seat = new SharedGrant(this, live);
        seats.put(live, seat);
        context.renewer().watch(live);
        return seat;
    }

    /**
     * Takes over a grant of a writer who is content to read, and lets those in who wait to read, unless another writer
     * is before them. Returns what is to be done after all mutexes are free; null if this pool is retired.
     */
    @Nullable
    Runnable adopt(GrantState live, HoldState reading) {
        mutex.lock();
        try {
            if (retired) {
                return null;
            }
            SharedGrant seat = new SharedGrant(this, live);
            seats.put(live, seat);
            seat.adopt(reading);
            live.moveTo(this);
            return serve(seat);
        } finally {
            mutex.unlock();
        }
    }

    /** Lets those in who waited for a grant: one for permits; of readers all but those behind a writer. */
    private Runnable serve(SharedGrant seat) {
        List<Runnable> wakes = new ArrayList<>();
        for (Waiter first = waiters.peek(); first != null && maySit(seat, first); first = waiters.peek()) {
            if (waiters.remove(first)) {
                seat.enter(first).ifPresent(wakes::add);
            }
        }
        Runnable back = seat.isFree() ? release(seat) : NOTHING;
        return both(both(all(wakes), back), both(afterLeaving(), nextIfIdle()));
    }

    private boolean maySit(SharedGrant seat, Waiter first) {
        return seat.suits(first) && (seat.isFree() || !isBehindWriter(first));
    }

    /**
     * Whether a writer of another client waits is asked when half of the bound has passed, so that the answer is there
     * before it has passed whole and no reader need wait for it.
     */
    private Runnable askForWritersInTime(SharedGrant seat, HoldOptions options) {
        if (!seat.isTimeToAsk(options)) {
            return NOTHING;
        }
        return () -> context.renewer()
                .ask(
                        seat.grant,
                        alone -> transition(() -> {
                            seat.heard(alone);
                            return NOTHING;
                        }));
    }

    @Override
    public void forEachHoldOf(GrantState of, Consumer<HoldState> action) {
        List<HoldState> holds = List.of();
        mutex.lock();
        try {
            SharedGrant seat = seats.get(of);
            if (seat != null) {
                holds = seat.holds();
            }
        } finally {
            mutex.unlock();
        }
        holds.forEach(action);
    }

    /** An open hold that this thread acquired and has not dropped, one bound to it first; null if there is none. */
    @Nullable
    HoldState heldBy(Thread thread) {
        mutex.lock();
        try {
            return openHolds()
                    .filter(hold -> hold.isOwnedBy(thread) && hold.anchor() != null)
                    .max(Comparator.comparing(HoldState::isThreadBound))
                    .orElse(null);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public boolean stopRenewal(HoldState of, Loss.Cause cause) {
        mutex.lock();
        try {
            SharedGrant seat = seats.get(of.grant);
            return seat != null && seat.stopFor(of, cause);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    void onStoreNotice(ClaimId id, Consumer<ClaimInFlight> notice) {
        mutex.lock();
        try {
            ClaimInFlight waiting = claiming;
            if (waiting != null && waiting.claim.id().equals(id)) {
                notice.accept(waiting);
            }
            tries.stream().filter(each -> each.claim.id().equals(id)).forEach(notice);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void grantLost(GrantState lost, Loss.Cause cause) {
        transition(() -> {
            SharedGrant seat = seats.get(lost);
            return seat == null ? NOTHING : lostStep(seat, cause);
        });
    }

    private Runnable lostStep(SharedGrant seat, Loss.Cause cause) {
        seats.remove(seat.grant);
        Runnable tell =
                all(seat.holds().stream().map(loser -> tellLoss(loser, cause)).toList());
        Runnable clear =
                mayStillStand(seat.grant, cause) ? () -> context.releaseSender().release(seat.grant, null) : NOTHING;
        return both(both(tell, clear), nextIfIdle());
    }

    @Override
    void shutDown(Throwable closed) {
        transition(() -> {
            ClaimInFlight unwanted = claiming;
            Runnable lose = all(List.copyOf(seats.keySet()).stream()
                    .<Runnable>map(held -> () -> context.renewer().lose(held, Loss.Cause.CLIENT_CLOSED))
                    .toList());
            return both(both(failAll(closed), unwanted == null ? NOTHING : unwanted::cancel), lose);
        });
        forgetOwners();
        transition(this::nextIfIdle);
    }

    // ---- transitions: called under the mutex, return what is to be done after it ----

    /** A claim for the first who waits, or retirement where nobody does and nothing is left. */
    @Override
    Runnable nextIfIdle() {
        if (!waiters.isEmpty()) {
            return context.isClosed() ? failAll(context.closedException()) : inTurn(claimNext());
        }
        boolean quiet = claiming == null && tries.isEmpty() && goingBack.isEmpty();
        if (quiet && seats.isEmpty() && isUnowned() && !retired) {
            retired = true;
            return () -> context.queues().retired(this);
        }
        return NOTHING;
    }

    private Runnable inTurn(Runnable claim) {
        return claim == NOTHING ? NOTHING : () -> turns.run(claim);
    }

    private Runnable claimNext() {
        Waiter first = waiters.peek();
        return claiming != null || first == null ? NOTHING : claimFor(first);
    }

    private Runnable claimFor(Waiter asker) {
        ClaimInFlight started = new ClaimInFlight(context.claims().claimFor(name, asker), asker, this::answered);
        if (asker.waits) {
            claiming = started;
        } else {
            tries.add(started);
        }
        return () -> afterOwnReleases(() -> context.queues().send(started, name));
    }

    /** A claim waits for this client's own releases before it. */
    private void afterOwnReleases(Runnable send) {
        if (goingBack.isEmpty()) {
            send.run();
        } else {
            CompletableFuture.allOf(goingBack.toArray(CompletableFuture[]::new))
                    .whenComplete((answered, failed) -> send.run());
        }
    }

    private Runnable release(SharedGrant seat) {
        return both(giveBack(seat), nextIfIdle());
    }

    private Runnable giveBack(SharedGrant seat) {
        if (!seat.grant.giveBack()) {
            return NOTHING; // lost in this moment: grantLost follows and goes on from there
        }
        seats.remove(seat.grant);
        context.renewer().forget(seat.grant);
        HoldState last = seat.grant.tokens().lastHold();
        CompletableFuture<Void> gone = new CompletableFuture<>();
        goingBack.add(gone);
        return () -> context.releaseSender()
                .releaseBeforeClaims(seat.grant, last)
                .whenComplete((held, failed) -> {
                    goingBack.remove(gone);
                    gone.complete(null);
                    transition(this::nextIfIdle);
                });
    }
}
