package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one client whose holds of a name may exist beside others: its readers, or the callers that want
 * permits of a semaphore. The store gives them {@link SharedGrant}s, any number; one claim at most waits there.
 *
 * <pre>
 *   reader comes ──► may it join a grant? ── yes ──► a hold beside the others there, without the store
 *                         │ no
 *   permits wanted ───────┴──► the queue ──► one claim ──► a grant: for all waiting readers, or for one of permits
 * </pre>
 *
 * <p>Readers of one client share a grant, and one token: they do not conflict with each other. None joins once a writer
 * of this client waits, nor a reader that came after that writer when a new grant arrives; none that came after writers
 * claims before the last of them does, which may wait for another writer of this client without a claim; and as writers of other
 * clients are known to the store alone, it is asked for them before the bounds of hand-over have passed, and again each
 * time. So a writer waits for readers that were there before it, and for those bounds at most. (Courtois, Heymans and
 * Parnas, "Concurrent Control with 'Readers' and 'Writers'", 1971, described both kinds of starvation; to admit all
 * waiters of one grant together is the idea of phase-fair locks, Brandenburg and Anderson, 2009.)
 *
 * <p>Some stores cannot downgrade a writer's grant: beside it they grant no claim to read, not even one of this client. So
 * while its holder reads, no reader of this client claims that may join: each waits here until the store says that no other
 * client waits, and joins.
 *
 * <p>A caller that wants more permits than others is not overtaken: those behind it wait for it. {@link SharedGrant}
 * decides how a grant passes on and when it is released.
 *
 * <p>Unlike {@link ExclusiveQueue} it takes its mutex for every caller. Thread-safe.
 */
final class SharedQueue extends WaitQueue {
    /** Whether these are readers, not callers that want permits. */
    final boolean shared;

    // Guarded by the mutex.
    private final Map<GrantState, SharedGrant> grants = new LinkedHashMap<>();
    /** Those without an answer: at most one that waits in the store, and those of callers that try once. */
    private final ArrayList<ClaimInFlight> claims = new ArrayList<>(1);

    /** Written under the mutex, and read without. */
    private volatile boolean hasGrants;
    /** Callers that do not wait, and are to hear first whether another client waits. */
    int trying;

    /** Sends the claims of those who wait; made within the answer to the last one, each would nest in it. */
    private final SerialRunner turns = new SerialRunner();

    SharedQueue(LocalLock lock, LockName name) {
        super(lock, name);
        this.shared = name.mode().kind() == LockMode.SHARED;
    }

    // ---- what callers do ----

    @Override
    boolean submit(Waiter waiter) {
        try (Effects then = lock.step()) {
            if (lock.retired) {
                return false;
            }
            if (!waiters.isEmpty() || !joinOne(waiter, then)) {
                ask(waiter, then);
            }
            return true;
        }
    }

    private void ask(Waiter waiter, Effects then) {
        if (!waiter.waits && !waiters.isEmpty()) {
            resolve(waiter, Waiter.EMPTY, then); // others of this client are before this one
            return;
        }
        warnIfItsOwn(waiter);
        giveUnusedBack(true, then); // it does not suit, and would be in the way
        if (waiter.waits) {
            waiters.add(waiter);
            nextIfIdle(then);
            return;
        }
        SharedGrant writers = writersInStore(waiter);
        if (writers != null) {
            writers.tryIfAlone(waiter, then);
            return;
        }
        ClaimInFlight calledOff = unwanted();
        if (calledOff == null) {
            claim(waiter, false, then);
        } else {
            ClaimInFlight claim = newClaim(waiter);
            then.add(new CallOffFirst(calledOff, claim));
            claims.add(claim);
        }
    }

    /** The caller that left may not have called its claim off yet. The store may still have that one in its queue. */
    private record CallOffFirst(ClaimInFlight unwanted, ClaimInFlight claim) implements Effects.Effect {
        @Override
        public void run() {
            unwanted.cancel();
            LocalLock lock = claim.queue.lock;
            unwanted.settled().whenComplete((gone, failed) -> {
                try {
                    lock.transition(then -> lock.claim(claim.queue, claim, then));
                } catch (Throwable broken) {
                    hasThrown(broken);
                }
            });
        }

        @Override
        public void hasThrown(Throwable why) {
            claim.answer.failed(why);
        }
    }

    /** The grant that the store could not downgrade, and that this reader may join once no other client waits; or null. */
    private @Nullable SharedGrant writersInStore(Waiter reader) {
        return grants.values().stream()
                .filter(grant -> grant.isWritersInStore() && grant.suitsIfAlone(reader.options))
                .findFirst()
                .orElse(null);
    }

    /** The store has not downgraded a grant, and will not. A claim to read would wait for its end. */
    void notDowngraded(GrantState live) {
        lock.transition(then -> {
            SharedGrant grant = grants.get(live);
            if (grant != null) {
                grant.writersInStore = true;
                afterLeaving(then);
                nextIfIdle(then);
            }
        });
    }

    @Override
    void giveUnusedBack(boolean retainedToo, Effects then) {
        for (SharedGrant grant : List.copyOf(grants.values())) {
            if (grant.isFree()) {
                grant.giveBack(null, then);
            }
        }
    }

    /** Watches a reader whose thread may wait for itself: it writes, or it reads and a writer is in between. */
    private void warnIfItsOwn(Waiter reader) {
        Thread thread = reader.thread;
        if (!shared || !reader.waits || thread == null) {
            return;
        }
        openHolds().filter(held -> held.isOwnedBy(thread)).findFirst().ifPresent(held -> OwnHold.watch(held, reader));
        ExclusiveQueue writers = lock.writers;
        if (writers != null) {
            writers.warnIfItsOwn(reader);
        }
    }

    private Stream<HoldState> openHolds() {
        return grants.values().stream().flatMap(grant -> grant.holds().stream());
    }

    /** Has a waiter join a grant by which it can have a hold at once, without asking the store; false if there is none. */
    private boolean joinOne(Waiter waiter, Effects then) {
        for (SharedGrant grant : List.copyOf(grants.values())) {
            if (mayEnter(grant, waiter)) {
                return grant.join(waiter, then);
            }
        }
        return false;
    }

    /** Whether a waiter can have a hold by this grant, and no writer is before it. */
    boolean mayEnter(SharedGrant grant, Waiter waiter) {
        return grant.suits(waiter) && !isBehindWriter(waiter);
    }

    /** Whether a caller of this client waits to write, and did not come after this reader. */
    boolean isBehindWriter(Waiter reader) {
        return writersBefore(reader).findAny().isPresent();
    }

    /** The same for a writer that no claim in the store stands for: a reader's claim would be before its own. */
    boolean isBehindWriterToClaim(Waiter reader) {
        ExclusiveQueue writers = lock.writers;
        Stream<ClaimInFlight> claims = writers == null ? Stream.empty() : writers.claims();
        long next = claims.filter(each -> each.claim.waits() && !each.cancelled).count();
        return writersBefore(reader).skip(next).findAny().isPresent();
    }

    private Stream<Waiter> writersBefore(Waiter reader) {
        ExclusiveQueue writers = shared ? lock.writers : null;
        return writers == null || writers.waiters.isEmpty()
                ? Stream.empty()
                : writers.waiters.stream().takeWhile(writer -> writer.since - reader.since <= 0);
    }

    /**
     * A claim for more or fewer permits than the first waiter wants is called off: the waiter would wait for it. So is one that
     * waits for a grant of this client. So is one whose reader has left, if a writer came after that reader, and before the
     * first who waits.
     */
    @Override
    @Nullable
    ClaimInFlight unwanted() {
        ClaimInFlight waiting = waitingClaim();
        Waiter first = waiters.peek();
        boolean wanted = first != null
                && waiting != null
                && first.mode.equals(waiting.claim.mode())
                && writersInStore(first) == null
                && writersBefore(first).allMatch(writer -> writer.since - waiting.asker.since <= 0);
        return wanted ? null : waiting;
    }

    @Override
    boolean close(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack, Effects then) {
        SharedGrant grant = grants.get(closing.grant);
        return grant != null && grant.close(closing, givenBack, then);
    }

    @Override
    void checkReportsWanted() {
        throw new IllegalStateException("the hold of '" + name
                + "' is a reader's or of permits: only exclusive holds are notified when others wait");
    }

    // ---- what the store and the renewer report ----

    @Override
    Stream<ClaimInFlight> claims() {
        return claims.stream();
    }

    @Override
    void forgetClaim(ClaimInFlight answered) {
        claims.remove(answered);
    }

    @Override
    void granted(ClaimInFlight of, GrantState live, Effects then) {
        SharedGrant begun = Objects.requireNonNull(grants.get(live));
        if (of.claim.waits() && (of.knownLost || of.inDoubt || live.hasSlept())) {
            dropGrant(live);
            engine.renewer.forget(live);
            then.add(new Effects.Withdraw(of));
            nextIfIdle(then); // for the waiters: claimed again
        } else if (of.claim.waits() || !giveTo(of.asker, live, then)) {
            begun.serve(null, then);
        }
    }

    @Override
    void own(GrantState live) {
        grants.put(live, new SharedGrant(this, live));
        hasGrants = true;
    }

    /** Takes over the grant of a writer that becomes a reader, and admits the waiting readers, unless another writer is before them. */
    void adopt(GrantState live, HoldState reading, Effects then) {
        try {
            own(live);
            begun(reading);
            addOwner(reading);
            live.owner = this; // last: an Error before that leaves the grant with the writer
            reading.becomeReader();
        } finally {
            if (live.owner != this) {
                removeOwner(reading);
                dropGrant(live);
            }
        }
        grantOf(reading).serve(null, then);
    }

    @Override
    void begun(HoldState made) {
        grantOf(made).begun(made);
    }

    @Override
    void notTaken(HoldState made, @Nullable HoldState before) {
        grantOf(made).notTaken(made, before);
    }

    private SharedGrant grantOf(HoldState hold) {
        return Objects.requireNonNull(grants.get(hold.grant));
    }

    @Override
    void forEachHoldOf(GrantState of, Consumer<HoldState> action) {
        List<HoldState> holds = lock.read(() -> {
            SharedGrant grant = grants.get(of);
            return grant == null ? List.of() : grant.holds();
        });
        holds.forEach(action);
    }

    /** An open hold that this thread acquired and has not dropped, one bound to it first; null if there is none. */
    @Nullable
    HoldState heldBy(Thread thread) {
        return !hasGrants
                ? null
                : lock.read(() -> openHolds()
                        .filter(hold -> hold.isOwnedBy(thread) && hold.anchor() != null)
                        .max(Comparator.comparing(HoldState::isThreadBound))
                        .orElse(null));
    }

    @Override
    boolean stopRenewal(HoldState of, Loss.Cause cause) {
        SharedGrant grant = grants.get(of.grant);
        return grant != null && grant.stopFor(of, cause);
    }

    @Override
    void grantLost(GrantState lost, Loss.Cause cause, Effects then) {
        SharedGrant grant = grants.get(lost);
        if (grant != null) {
            grant.lost(cause, then);
        }
    }

    @Override
    void shutDown(Throwable closed, Effects then) {
        failAll(closed, then);
        afterLeaving(then);
        lose(grants.keySet().stream(), then);
    }

    @Override
    void endUnheld(Effects then) {
        lose(grants.values().stream().filter(SharedGrant::isFree).map(free -> free.state), then);
        then.add(this);
    }

    // ---- steps: called under the mutex ----

    /** A claim for the first waiter, or retirement if there is no waiter and nothing is left. */
    @Override
    void nextIfIdle(Effects then) {
        claimOrRetire(waiters.peek(), then);
    }

    /** Unless one is made, or would come before that of a writer who came first. */
    @Override
    void claimFor(Waiter first, Effects then) {
        if (waitingClaim() != null || isBehindWriterToClaim(first)) {
            return;
        }
        SharedGrant writers = writersInStore(first);
        if (writers == null) {
            claim(first, true, then);
        } else {
            writers.serveIfAlone(then);
        }
    }

    /** Whether nobody here wants or has it, and no answer is on its way. */
    boolean isUnused() {
        return waiters.isEmpty() && claims.isEmpty() && trying == 0 && grants.isEmpty() && hasNoOwners();
    }

    /** Sends a claim when its turn comes. */
    private record InTurn(SerialRunner turns, ClaimInFlight claim) implements Effects.Effect {
        @Override
        public void run() {
            turns.run(this::send);
        }

        /** What it throws is not another's: that one may be on this stack. */
        private void send() {
            try {
                claim.run();
            } catch (Throwable broken) {
                claim.answer.failed(broken);
            }
        }

        @Override
        public void hasThrown(Throwable why) {
            claim.answer.failed(why);
        }
    }

    /** The claim that waits in the store, for all waiters here; null if there is none. */
    private @Nullable ClaimInFlight waitingClaim() {
        for (ClaimInFlight each : claims) {
            if (each.claim.waits()) {
                return each;
            }
        }
        return null;
    }

    private ClaimInFlight newClaim(Waiter asker) {
        ClaimInFlight made = new ClaimInFlight(engine.claims.claimFor(name, asker), asker, this);
        claims.ensureCapacity(claims.size() + 1); // so that adding it cannot fail
        return made;
    }

    // ---- for its grants: under the mutex ----

    void claim(Waiter asker, boolean inTurn, Effects then) {
        ClaimInFlight started = newClaim(asker);
        lock.claim(this, inTurn ? new InTurn(turns, started) : started, then);
        claims.add(started);
    }

    /** Whether that is one of this queue's grants, and has not been lost or released meanwhile. */
    boolean has(SharedGrant asked) {
        return grants.get(asked.state) == asked;
    }

    /** It no longer belongs to this queue. */
    void dropGrant(GrantState grant) {
        grants.remove(grant);
        hasGrants = !grants.isEmpty();
    }
}
