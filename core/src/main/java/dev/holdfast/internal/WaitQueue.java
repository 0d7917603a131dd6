package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldOptions;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One side of a {@link LocalLock}: the callers of one client that want the name in one way, in the order they came, and what
 * the store has granted for them.
 *
 * <p>There are two kinds: {@link ExclusiveQueue} for exclusive holds, and {@link SharedQueue} for readers and permits, which
 * may be held beside others. This class has what they share: how callers are served and give up, and how claims are answered.
 *
 * <p>A step is what is called under the lock's mutex: it takes the {@link Effects} to which it adds what is to be done.
 * Thread-safe.
 */
abstract class WaitQueue implements Effects.Effect {
    private static final Duration OWNER_CHECK = Duration.ofSeconds(10);

    final LocalLock lock;
    final Engine engine;
    final LockName name;
    /** The callers that wait, in order of arrival; to join and to leave takes no mutex. */
    final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    /** The threads that own a hold here; a map of its own is made for the first, as most locks are held by no thread. */
    private volatile Map<Thread, HoldState> owners = Map.of();

    WaitQueue(LocalLock lock, LockName name) {
        this.lock = lock;
        this.engine = lock.engine;
        this.name = name;
    }

    // ---- what callers do ----

    /** Takes a waiter in; false if the lock is retired and another must be asked. */
    abstract boolean submit(Waiter waiter);

    /** The claim in the store that none of those who wait wants any more; null if there is none. Under the mutex. */
    abstract @Nullable ClaimInFlight unwanted();

    /** Whether a hold of this very client proves that others hold the lock. Under the mutex. */
    boolean isSurelyHeldHere() {
        return false; // holds beside each other do not show whether more would fit
    }

    /** A waiter has gone: the last one calls the claim off. Under the mutex. */
    final void afterLeaving(Effects then) {
        ClaimInFlight unwanted = unwanted();
        if (unwanted != null) {
            then.add(new Effects.Cancel(unwanted));
        }
    }

    /** A waiter whose outcome was set by other means leaves the queue. */
    void forget(Waiter waiter, NotAcquired.Reason why) {
        waiters.remove(waiter);
        try (Effects then = lock.step()) {
            afterLeaving(then);
            quietly(() -> engine.telemetry.notAcquired(name, waiter, why)); // last: nothing depends on it
        }
    }

    /** A waiter whose caller has failed, and is no longer notified: it leaves the queue, or its hold is released. */
    final void abandon(Waiter waiter) {
        if (waiter.resolve(Waiter.EMPTY)) {
            try {
                forget(waiter, NotAcquired.Reason.CANCELLED);
            } finally {
                Effects.surely(this); // it may have come no further than to make the lock
            }
        } else if (waiter.outcome() instanceof HoldHandle granted) {
            granted.giveBack();
        }
    }

    /**
     * The time of a waiter has passed. It leaves the queue, and hears that others hold the lock once the store proves to
     * answer: by the answer to the claim that is called off with it or, where others of this client wait on, otherwise.
     */
    final void timeOut(Waiter waiter) {
        try (Effects then = lock.step()) {
            if (waiters.remove(waiter)) { // else served or failed in this moment
                timeOut(waiter, then);
            }
        }
    }

    private void timeOut(Waiter waiter, Effects then) {
        try {
            ClaimInFlight unwanted = unwanted();
            if (unwanted != null) {
                then.add(new Effects.Cancel(unwanted));
                then.add(() -> endOnce(unwanted.settled(), waiter));
            } else if (isSurelyHeldHere()) {
                resolve(waiter, Waiter.EMPTY, then);
            } else {
                then.add(() -> endOnce(engine.reachability.proof(name.inStore()), waiter));
            }
        } catch (Throwable broken) { // an Error, such as of memory: it has left the queue, and hears of it here alone
            resolve(waiter, broken, then);
        }
    }

    private void endOnce(CompletableFuture<Void> proof, Waiter waiter) {
        engine.reachability.afterProof(
                proof,
                failure -> lock.transition(then -> resolve(waiter, failure == null ? Waiter.EMPTY : failure, then)));
    }

    /** Fails the callers without a time limit who have waited since then or longer. */
    final void failSince(long nanos, Throwable why) {
        try (Effects then = lock.step()) {
            for (Waiter waiter : List.copyOf(waiters)) {
                if (waitsSince(waiter, nanos)) {
                    resolve(waiter, why, then); // first: one that has left the queue hears nothing more
                    waiters.remove(waiter);
                }
            }
            afterLeaving(then);
        }
    }

    /**
     * It goes on: whatever can come next does. Under no mutex. The queue is this effect itself, so that no lack of memory
     * prevents it.
     */
    @Override
    public final void run() {
        try (Effects then = lock.step()) {
            nextIfIdle(then);
        }
    }

    // ---- the lock's steps: under the mutex ----

    /** What comes next where nothing stands in the store and nothing is under way: a claim, or retirement. */
    abstract void nextIfIdle(Effects then);

    /** The same where a claim left nothing there, or a release was sent, or answered where that counts. */
    void next(Effects then) {
        nextIfIdle(then);
    }

    /** A claim for the caller that is next, or retirement if there is none. */
    final void claimOrRetire(@Nullable Waiter first, Effects then) {
        if (first == null) {
            lock.retireIfUnused(then);
        } else if (engine.isClosed()) {
            ClientClosedException closed = engine.closedException();
            resolve(first, closed, then);
            failAll(closed, then);
            then.add(this);
        } else {
            try {
                claimFor(first, then);
            } catch (Throwable broken) { // as without random bytes or memory: nobody else calls who could hear that
                resolve(first, broken, then);
                waiters.remove(first);
                then.add(this);
            }
        }
    }

    /** Sends the claim for the caller that is next. */
    abstract void claimFor(Waiter first, Effects then);

    /** What lingers goes back now, and perhaps what is retained: something else is to follow it. */
    abstract void giveUnusedBack(boolean retainedToo, Effects then);

    /** A hold is closed; see {@link LocalLock#end}. */
    final void endHold(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack, Effects then) {
        Loss.Cause cause = closing.grant.lossCause();
        if (cause != null) { // which may not be known here yet
            grantLost(closing.grant, cause, then);
        }
        if ((cause != null || !close(closing, givenBack, then)) && givenBack != null) {
            then.add(() -> givenBack.complete(false)); // otherwise its release answers it
        }
    }

    /** The same where its grant is not lost; false if nothing else will tell the caller that waits for its release. */
    abstract boolean close(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack, Effects then);

    /** Marks a hold closed, and tells of it; false if it has ended before. All that may fail comes before it is closed. */
    final boolean closeIfOpen(HoldState closing, Effects then) {
        Effects.Note ended = () -> engine.telemetry.recordHold(closing, false);
        then.reserve();
        if (!closing.isOpen()) {
            return false;
        }
        quietly(() -> engine.telemetry.released(closing));
        closing.close();
        then.add(ended);
        return true;
    }

    /** A holder asks to be notified when others wait; one that became a reader meanwhile is not. */
    void watch(HoldState hold, Effects then) {}

    /** Other clients wait, as the store reports. Where other grants may exist beside it, a grant is not notified. */
    void wanted(GrantState grant, Effects then) {}

    /** A grant has ended otherwise than by its release. */
    abstract void grantLost(GrantState lost, Loss.Cause cause, Effects then);

    /** See {@link LocalLock#stopRenewal}. */
    abstract boolean stopRenewal(HoldState of, Loss.Cause cause);

    /** What is granted and held by nobody goes back, and whatever can come next does. */
    abstract void endUnheld(Effects then);

    /** Waiters fail, holds are lost, grants are given back. */
    abstract void shutDown(Throwable closed, Effects then);

    /** Grants are lost with their client. */
    final void lose(Stream<GrantState> those, Effects then) {
        those.forEach(each -> then.add(() -> engine.renewer.lose(each, Loss.Cause.CLIENT_CLOSED)));
    }

    // ---- what the store and the renewer report ----

    /** Throws unless a holder can be notified that others wait. */
    abstract void checkReportsWanted();

    /** Does something short with each open hold under a grant; it may end meanwhile, unless the mutex is held. */
    abstract void forEachHoldOf(GrantState of, Consumer<HoldState> action);

    /** The store confirmed a grant, which may have been in doubt. */
    void confirmed(GrantState standing) {
        forEachHoldOf(standing, HoldState::tellOwner);
    }

    /** Notes what the store reports of a grant whose answer is still on its way, if one of this queue's claims is its. */
    final void onStoreNotice(ClaimId id, Consumer<ClaimInFlight> notice) {
        lock.read(() ->
                claims().filter(each -> each.claim.id().equals(id)).peek(notice).count());
    }

    /** The claims without an answer. Under the mutex. */
    abstract Stream<ClaimInFlight> claims();

    /** The store has answered a claim, or failed. */
    final void answered(ClaimInFlight of, @Nullable Grant grant, @Nullable Throwable failure) {
        lock.transition(then -> {
            if (!of.dealtWith) { // else it was taken for failed, and withdrawn
                answered(of, grant, failure, then);
            }
        });
    }

    private void answered(ClaimInFlight of, @Nullable Grant grant, @Nullable Throwable failure, Effects then) {
        GrantState live = null;
        Throwable why = failure;
        if (grant != null) {
            try {
                live = begin(grant, of);
                throwIfUnusable(live, grant, of);
                planRenewal(live);
                own(live);
            } catch (Throwable unusable) {
                if (live != null) {
                    engine.renewer.forget(live);
                }
                why = unusable;
                live = null;
            }
        }
        if (why != null) {
            failed(of, why, then);
        } else if (live == null && !of.claim.waits()) {
            notGranted(of, then);
        }
        of.dealtWith = true; // not before: if an Error has come until here, the claim is taken for failed
        forgetClaim(of);
        if (live == null) {
            next(then);
        } else {
            granted(of, live, then);
        }
    }

    /** A store that is slow, or breaks its contract, gives grants that cannot be used: throws why. */
    private void throwIfUnusable(GrantState live, Grant given, ClaimInFlight claim) {
        if (engine.isClosed()) {
            throw engine.closedException();
        }
        if (live.hasRunOut()) {
            throw new StoreUnavailableException(engine.store.description()
                    + " took longer to answer than the lease it granted; use a longer lease");
        }
        if (!claim.claim.waits() && live.hasSlept()) {
            throw new StoreUnavailableException(
                    "the machine slept while " + engine.store.description() + " was asked; try again");
        }
        if (!claim.claim.waits() && (claim.knownLost || claim.inDoubt)) {
            throw new StoreUnavailableException("the session or connection to " + engine.store.description()
                    + " broke while it was asked; try again");
        }
        if (!live.sessionBound && !given.lease().equals(claim.claim.lease())) {
            throw new StoreRefusedException(engine.store.description() + " gave a lease of "
                    + Durations.text(given.lease()) + " where " + Durations.text(claim.claim.lease())
                    + " was asked for: report this to the authors of the store");
        }
        if (!Tokens.isNumber(given.number())) {
            throw new StoreRefusedException(engine.store.description() + " gave the grant number " + given.number()
                    + ", from which no token can be made: its counter was damaged, or set by hand");
        }
    }

    /** Plans its renewal before a caller gets it. */
    private void planRenewal(GrantState begun) {
        try {
            engine.renewer.keep(begun);
        } catch (Throwable broken) { // the timer may have no thread
            throw new HoldfastException(
                    "its renewal could not be planned; see how many threads this process may have: " + broken, broken);
        }
    }

    /** A claim has its answer. Under the mutex. */
    abstract void forgetClaim(ClaimInFlight answered);

    /** A grant is this queue's from now on. Under the mutex. */
    abstract void own(GrantState live);

    /** A claim has a grant that can be used, is renewed, and is this queue's. Under the mutex. */
    abstract void granted(ClaimInFlight of, GrantState live, Effects then);

    /** Marks a hold lost and tells of it; under the mutex. */
    final void tellLoss(HoldState loser, Loss.Cause cause, Effects then) {
        Loss loss = new Loss(name.name(), loser.token, cause, engine.store.description());
        Effects.Effect tell = new Effects.Tell(this, loser);
        Runnable count = () -> engine.telemetry.lost(loser);
        then.reserve();
        if (loser.isOpen()) {
            loser.lose(loss); // all that may fail comes before that
            then.add(tell);
            loser.tellOwner();
            quietly(count);
        }
    }

    /** A grant that the store gave to a claim of this queue, as it is seen here from now on. */
    private GrantState begin(Grant given, ClaimInFlight claim) {
        engine.claims.saw(given.number());
        HoldOptions options = claim.asker.options;
        long slept = Objects.requireNonNull(claim.sent).slept();
        GrantState begun =
                new GrantState(this, given, options.autoRenew(), engine.store.capabilities(), engine.time, slept);
        begun.beginLease(options);
        return begun;
    }

    /** Gives a hold by a grant to a waiter; false if the outcome of that one was set before. Under the mutex. */
    final boolean giveTo(Waiter taker, GrantState by, Effects then) {
        HoldState before = by.lastHold();
        HoldState made;
        HoldHandle granted;
        try {
            made = new HoldState(new HoldHandle(), by, taker, engine.renewer.leaks, engine.time.nanoTime());
            granted = made.handOut(taker.threadOwned);
            begun(made);
        } catch (Throwable broken) { // an Error, such as of memory: it has left the queue, and hears of it here alone
            resolve(taker, broken, then);
            return false;
        }
        boolean taken = false;
        try {
            addOwner(made);
            // Last: from here on the taker may close the hold, and everything must be in its place by then.
            taken = resolve(taker, granted, then);
        } catch (Throwable broken) {
            resolve(taker, broken, then);
        } finally {
            if (!taken) {
                removeOwner(made);
                notTaken(made, before);
            }
        }
        return taken;
    }

    /** A hold begins. Under the mutex. */
    abstract void begun(HoldState made);

    /** The hold that began last is nobody's: all is as before. Under the mutex. */
    abstract void notTaken(HoldState made, @Nullable HoldState before);

    /** Counts and notes what has happened; an Error meanwhile, such as of memory, keeps nobody from what follows. */
    static void quietly(Runnable count) {
        try {
            count.run();
        } catch (Throwable notCounted) {
            // see above
        }
    }

    /**
     * The outcome of a claim is unknown: what it may have left is cleared, and its waiters fail. A claim that
     * was called off has no waiters: if the store did not answer, callers that have come since then continue to wait, by a
     * claim of their own.
     */
    final void failed(ClaimInFlight of, Throwable why, Effects then) {
        then.add(new Effects.Withdraw(of));
        if (!of.claim.waits()) {
            resolve(of.asker, why, then);
        } else if (!of.cancelled || !Failures.isUnavailable(why)) {
            failAll(why, then);
        }
    }

    /** Whether a caller without a time limit has waited since then or longer. */
    final boolean anySince(long nanos) {
        return waiters.stream().anyMatch(waiter -> waitsSince(waiter, nanos));
    }

    private static boolean waitsSince(Waiter waiter, long nanos) {
        return !waiter.timed && waiter.since - nanos <= 0;
    }

    // ---- how a wait ends without a hold; under the mutex ----

    /** A try without a grant: others have the lock, unless it was called off because the client is being closed. */
    private void notGranted(ClaimInFlight of, Effects then) {
        if (engine.isClosed()) {
            resolve(of.asker, engine.closedException(), then);
        } else if (of.mayHaveMetItsOwn()) {
            resolve(
                    of.asker,
                    new StoreUnavailableException(engine.store.description()
                            + " has not confirmed yet that the last hold of '" + name
                            + "' by this client is released, so nobody else may hold it: try again"),
                    then);
        } else {
            resolve(of.asker, Waiter.EMPTY, then);
        }
    }

    /**
     * Sets the outcome of a waiter, and counts it; false if it was set before. Nothing is made here that might fail. So a hold
     * that was given is not taken back, and a second Error keeps nobody waiting for news of the first.
     */
    final boolean resolve(Waiter waiter, Object outcome, Effects then) {
        boolean first = then.resolve(waiter, outcome);
        try {
            if (first) {
                engine.telemetry.resolved(name, waiter, outcome);
            }
        } catch (Throwable notCounted) {
            // as quietly() does, which would need a closure
        }
        return first;
    }

    final void failAll(Throwable failure, Effects then) {
        for (Waiter waiter = waiters.peek(); waiter != null; waiter = waiters.peek()) {
            resolve(waiter, failure, then); // first: one that has left the queue hears nothing more
            waiters.remove(waiter);
        }
    }

    // ---- threads that own holds: only the owner may enter its hold again, and only the owner may close it ----

    /** The hold this thread has and may enter again, or has lost and not closed yet. */
    final @Nullable HoldState holdOf(Thread thread) {
        return owners.get(thread);
    }

    /** Whether no thread has a hold here that it may still close. */
    final boolean hasNoOwners() {
        return owners.isEmpty();
    }

    /** A hold belongs to its thread, if it has one; under the mutex. */
    final void addOwner(HoldState hold) {
        Thread owner = hold.owner;
        if (owner == null) {
            return;
        }
        Map<Thread, HoldState> all = owners;
        if (!(all instanceof ConcurrentHashMap)) {
            all = new ConcurrentHashMap<>();
            owners = all;
        }
        all.put(owner, hold);
    }

    /** Whether it was there. */
    final boolean removeOwner(HoldState hold) {
        Map<Thread, HoldState> all = owners;
        Thread owner = hold.owner;
        return owner != null && all.get(owner) == hold && all.remove(owner, hold);
    }

    final void forgetOwners() {
        owners = Map.of();
    }

    /** A hold no longer belongs to its thread: it is closed, or lost and cannot be closed. */
    final void disown(HoldState closing) {
        if (removeOwner(closing)) {
            closing.unpin();
        }
        if (!closing.isOpen()) {
            run();
        }
    }

    /**
     * A lost hold keeps its owner until that thread closes it, or can no longer close it: a thread that ends or drops the hold
     * leaves an entry that no other code would clear.
     */
    final void disownOnceDead(HoldState lost) {
        Thread owner = lost.owner;
        if (owner == null || holdOf(owner) != lost) {
            return;
        }
        if (owner.isAlive() && lost.anchor() != null) {
            engine.time.schedule(() -> disownOnceDead(lost), OWNER_CHECK);
        } else {
            disown(lost);
        }
    }
}
