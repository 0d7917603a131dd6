package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The callers of one client that want one name in one way, in the order they came, and what the store has granted for them.
 *
 * <p>There are two kinds: {@link ExclusiveQueue} for exclusive holds, and {@link SharedQueue} for
 * readers and permits, which may be held beside others. This class has what they share: how callers give up, close and are
 * informed.
 *
 * <p>State changes under a small mutex. Nothing is called under it that may wait or call back: each transition adds what
 * is to be done to its {@link Effects}, and that is run after the mutex is free. Thread-safe.
 */
abstract class WaitQueue implements GrantOwner {
    final EngineContext context;
    final LockName name;
    final ReentrantLock mutex = new ReentrantLock();
    final Waiters waiters;
    final HoldOwners owners;

    WaitQueue(EngineContext context, LockName name) {
        this.context = context;
        this.name = name;
        this.waiters = new Waiters(context, name);
        this.owners = new HoldOwners(context.time(), new Effects.GoOn(this)::run);
    }

    @Override
    public final EngineContext context() {
        return context;
    }

    @Override
    public final LockName name() {
        return name;
    }

    // ---- what callers do ----

    /** Takes a waiter in; false if this queue is retired and another must be asked. */
    abstract boolean submit(Waiter waiter);

    /** Whether it takes nobody in any more, for good. Under the mutex. */
    abstract boolean isRetired();

    /** Has the registry forget it now: whoever retired it may be on this very stack, and come to that only later. */
    final void forgetIfRetired() {
        transition(then -> {
            if (isRetired()) {
                then.add(new Effects.Retire(this));
            }
        });
    }

    /** The claim in the store that none of those who wait wants any more; null if there is none. Under the mutex. */
    abstract @Nullable ClaimInFlight unwanted();

    /** Whether a hold of this very client proves that others hold the lock. Under the mutex. */
    abstract boolean isSurelyHeldHere();

    /** A waiter has gone: the last one calls the claim off. Under the mutex. */
    final void afterLeaving(Effects then) {
        ClaimInFlight unwanted = unwanted();
        if (unwanted != null) {
            then.add(new Effects.Cancel(unwanted));
        }
    }

    @Override
    public boolean downgrade(HoldState hold) {
        throw new IllegalStateException("only an exclusive hold can become a shared one: '" + name + "'");
    }

    /** A waiter whose outcome was set by other means leaves the queue. */
    void forget(Waiter waiter, NotAcquired.Reason why) {
        waiters.remove(waiter);
        context.telemetry().notAcquired(name, waiter, why);
        transition(this::afterLeaving);
    }

    /** A waiter whose caller has failed, and is no longer notified: it leaves the queue, or its hold is released. */
    final void abandon(Waiter waiter) {
        if (waiter.resolve(Waiter.EMPTY)) {
            forget(waiter, NotAcquired.Reason.CANCELLED);
        } else if (waiter.outcome() instanceof Waiter.Outcome.Granted granted) {
            granted.anchor().giveBack();
        }
    }

    /**
     * The time of a waiter has passed. It leaves the queue, and hears that others hold the lock once the store proves to
     * answer: by the answer to the claim that is called off with it or, where others of this client wait on, otherwise.
     */
    final void timeOut(Waiter waiter) {
        transition(then -> {
            if (!waiters.remove(waiter)) {
                return; // served or failed in this moment
            }
            ClaimInFlight unwanted = unwanted();
            if (unwanted != null) {
                then.add(new Effects.Cancel(unwanted));
                then.add(() -> endOnce(unwanted.settled(), waiter));
            } else if (isSurelyHeldHere()) {
                waiters.timedOut(waiter, then);
            } else {
                then.add(() -> endOnce(context.reachability().proof(name.inStore()), waiter));
            }
        });
    }

    private void endOnce(CompletableFuture<Void> proof, Waiter waiter) {
        context.reachability()
                .afterProof(
                        proof,
                        failure -> transition(then -> {
                            if (failure == null) {
                                waiters.timedOut(waiter, then);
                            } else {
                                waiters.fail(waiter, failure, then);
                            }
                        }));
    }

    /** Fails the callers without a time limit who have waited since then or longer. */
    final void failSince(long nanos, Throwable why) {
        transition(then -> {
            waiters.failSince(nanos, why, then);
            afterLeaving(then);
        });
    }

    @Override
    public final void close(HoldState closing, LockMode as) {
        try {
            StackRoom.forStep();
        } catch (StackOverflowError full) { // the timer's thread has room
            closeLater(closing, as, full);
            return;
        }
        if (leave(closing, as)) {
            CompletableFuture<Boolean> givenBack = closing.options.awaitRelease() ? new CompletableFuture<>() : null;
            endHold(closing, givenBack);
            if (givenBack != null && context.await(givenBack)) {
                awaitRelease(closing);
            }
        }
        throwIfLost(closing);
    }

    /** Only the owning thread counts entries, and it must not find the hold again that is about to end. */
    private void closeLater(HoldState closing, LockMode as, StackOverflowError full) {
        StackRoom.forTask();
        if (closing.isThreadBound() && !closing.isLastEntry()) {
            if (closing.becomesReaderBy(as)) {
                throw full;
            }
            closing.exit(as);
            return;
        }
        closing.closeLater();
        if (closing.isThreadBound()) {
            closing.exit(as);
            if (closing.acquirer != null) {
                owners.remove(closing.acquirer, closing);
            }
        }
    }

    @Override
    public final void closeUnawaited(HoldState closing) {
        left(closing);
        endHold(closing, null);
    }

    /** Leaves one entry of it; whether it was the last, and the hold is to be ended. */
    private boolean leave(HoldState closing, LockMode as) {
        if (closing.isThreadBound()) {
            HoldState.Left left = closing.exit(as);
            if (left == HoldState.Left.READER) {
                downgrade(closing);
            }
            if (left != HoldState.Left.NOBODY) {
                return false;
            }
        }
        left(closing);
        return true;
    }

    /** Nobody has an entry of it any more. */
    private void left(HoldState closing) {
        if (closing.isThreadBound()) {
            owners.disown(closing);
            closing.pin(); // as one that no thread owns: until it is known whether it was closed in time
        }
        if (!closing.grant.isValid()) {
            context.renewer().examine(closing.grant); // a deadline that passed unnoticed counts before the close
        }
    }

    @Override
    public final void giveBack(HoldState unwanted) {
        if (!unwanted.grant.isValid()) {
            context.renewer().examine(unwanted.grant);
        }
        endHold(unwanted, null);
    }

    /** Waits until the store has confirmed the release of a hold that was just closed. */
    private void awaitRelease(HoldState hold) {
        boolean wasHeld;
        try {
            wasHeld = context.await(hold.grant.released());
        } catch (RuntimeException failed) {
            return; // logged; the lease bounds it
        }
        if (!wasHeld && hold.isLost()) {
            throw new HoldLostException(hold.loss());
        }
    }

    private static void throwIfLost(HoldState closing) {
        if (closing.isLost()) {
            throw closing.lostException();
        }
    }

    /** Makes a claim for the name in another way: behind the release of what lingers here, and of what is going back. */
    abstract void claimBehind(Effects.Effect claim);

    /** Does something behind the release of what lingers here, and of what is going back. What is retained stays. */
    void behindReleases(Effects.Effect action) {
        claimBehind(action);
    }

    @Override
    public final void forgetIfDropped(HoldState held) {
        if (!held.grant.isValid()) {
            context.renewer().examine(held.grant);
        }
        if (held.isLost()) {
            owners.disown(held);
        }
    }

    /** What comes next where nothing stands in the store and nothing is under way: a claim, or retirement. */
    abstract void nextIfIdle(Effects then);

    /** Sends a claim, behind this client's releases of the name. */
    abstract void send(ClaimInFlight claim);

    /** The release of a grant of this queue was sent, or answered where that counts. */
    abstract void claimsMayFollow(GrantState released);

    // ---- what the store and the renewer report ----

    @Override
    public final void withHoldsOf(GrantState of, Consumer<HoldState> action) {
        mutex.lock();
        try {
            forEachHoldOf(of, action);
        } finally {
            mutex.unlock();
        }
    }

    /** Notes what the store reports of a grant whose answer is still on its way, if one of this queue's claims is its. */
    final void onStoreNotice(ClaimId id, Consumer<ClaimInFlight> notice) {
        mutex.lock();
        try {
            claims().filter(each -> each.claim.id().equals(id)).forEach(notice);
        } finally {
            mutex.unlock();
        }
    }

    /** The claims without an answer. Under the mutex. */
    abstract Stream<ClaimInFlight> claims();

    /** The store has answered a claim, or failed. */
    final void answered(ClaimInFlight of, @Nullable Optional<Grant> answer, @Nullable Throwable failure) {
        transition(then -> {
            forgetClaim(of);
            if (failure != null || answer == null) {
                failed(of, failure != null ? failure : new IllegalStateException("the store answered null"), then);
            } else if (answer.isPresent()) {
                granted(of, answer.get(), then);
                return;
            } else if (!of.claim.waits()) {
                waiters.notGranted(of.asker, then);
            }
            afterClaim(then);
        });
    }

    private void granted(ClaimInFlight of, Grant given, Effects then) {
        GrantState live;
        try {
            live = begin(given, of);
            GrantCheck.throwIfUnusable(context, live, of);
            watch(live);
        } catch (Throwable unusable) {
            failed(of, unusable, then);
            afterClaim(then);
            return;
        }
        granted(of, live, then);
    }

    /** Plans its renewal before a caller gets it. */
    private void watch(GrantState begun) {
        try {
            context.renewer().watch(begun);
        } catch (Throwable broken) { // the timer may have no thread
            throw new HoldfastException(
                    "its renewal could not be planned; see how many threads this process may have: " + broken, broken);
        }
    }

    /** A claim has its answer. Under the mutex. */
    abstract void forgetClaim(ClaimInFlight answered);

    /** What comes next where a claim left nothing in the store. Under the mutex. */
    abstract void afterClaim(Effects then);

    /** A claim has a grant that can be used, and is renewed. Under the mutex. */
    abstract void granted(ClaimInFlight of, GrantState live, Effects then);

    @Override
    public void confirmed(GrantState standing) {
        forEachHoldOf(standing, HoldState::tellOwner);
    }

    /** Ends it with its client: waiters fail, holds are lost, grants are given back. */
    abstract void shutDown(Throwable closed);

    /** Marks a hold lost and tells of it; under the mutex. */
    final void tellLoss(HoldState loser, Loss.Cause cause, Effects then) {
        if (loser.lose(new Loss(name.name(), loser.token, cause, context.description()))) {
            loser.tellOwner();
            then.add(new Effects.Tell(this, loser));
            context.telemetry().lost(loser);
        }
    }

    /** A grant that the store gave to a claim of this queue, as it is seen here from now on. */
    private GrantState begin(Grant given, ClaimInFlight claim) {
        context.claims().saw(given.number());
        HoldOptions options = claim.asker.options;
        GrantState begun = new GrantState(
                this, given, options.autoRenew(), context.capabilities(), context.time(), claim.wallLead());
        begun.beginLease(options);
        return begun;
    }

    /** A hold by a grant, for a waiter. */
    final HoldState newHold(GrantState grant, Waiter taker) {
        return new HoldState(
                grant,
                name.name(),
                grant.tokens.next(grant.grant().number()),
                taker,
                context.renewer().leaks(),
                context.time().nanoTime());
    }

    final void countAcquired(HoldState made, Waiter taker) {
        try {
            context.telemetry().acquired(made, taker);
        } catch (Throwable notCounted) {
            // an Error, such as of memory: the taker has the hold, and is woken
        }
    }

    // ---- transitions ----

    /**
     * The outcome of a claim is unknown: what it may have left is cleared, and its waiters fail. A claim that
     * was called off has no waiters: if the store did not answer, callers that have come since then continue to wait, by a
     * claim of their own.
     */
    final void failed(ClaimInFlight of, Throwable why, Effects then) {
        then.add(new Effects.Withdraw(of));
        if (!of.claim.waits()) {
            waiters.fail(of.asker, why, then);
        } else if (!of.isCalledOff() || !Failures.isUnavailable(why)) {
            waiters.failAll(why, then);
        }
    }

    /**
     * Makes a step under the mutex, and does what it decided after that, also where an Error ended it half-way. Each change of
     * state of the queue is such a step.
     */
    final void transition(Consumer<Effects> step) {
        Effects then = new Effects();
        try {
            mutex.lock();
            try {
                step.accept(then);
            } finally {
                mutex.unlock();
            }
        } finally {
            try {
                context.telemetry().flush();
            } finally {
                then.run();
            }
        }
    }
}
