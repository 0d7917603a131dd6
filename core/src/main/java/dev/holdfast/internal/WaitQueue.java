package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Those callers of one client who want one name in one way, in the order they came, and what the store gave for them.
 *
 * <p>There are two kinds: {@link ExclusiveQueue} for exclusive holds, which stand alone, and {@link SharedQueue} for those that
 * may stand beside others, readers and permits. Here is what they share: how callers give up, close and are told.
 *
 * <p>State changes under a small mutex. Nothing is called under it that may wait or call back: each transition returns
 * what is to be done, and that is run after the mutex is free. Thread-safe.
 */
abstract sealed class WaitQueue permits ExclusiveQueue, SharedQueue {
    private static final int PLACE_SAMPLE = 16;
    private static final Duration OWNER_CHECK = Duration.ofSeconds(10);

    final Engine engine;
    final LockName name;
    final ReentrantLock mutex = new ReentrantLock();
    final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    private final Map<Thread, HoldState> owners = new ConcurrentHashMap<>();

    private int joined; // a lost update only shifts the sample

    WaitQueue(Engine engine, LockName name) {
        this.engine = engine;
        this.name = name;
    }

    Engine engine() {
        return engine;
    }

    LockName name() {
        return name;
    }

    // ---- what callers do ----

    /** Takes a waiter in; false if this queue is retired and another must be asked. */
    abstract boolean submit(Waiter waiter);

    /** Whether it takes nobody in any more, for good. Under the mutex. */
    abstract boolean isRetired();

    /** Has the engine forget it now: whoever retired it may be on this very stack, and come to that only later. */
    final void forgetIfRetired() {
        transition(() -> isRetired() ? () -> engine.retired(this) : NOTHING);
    }

    /** The claim in the store that none of those who wait wants any more; null if there is none. Under the mutex. */
    abstract @Nullable ClaimInFlight unwanted();

    /** Whether a hold of this very client proves that others hold the lock. Under the mutex. */
    abstract boolean isSurelyHeldHere();

    /** What is to be done once a waiter has gone: the last one calls the claim off. Under the mutex. */
    final Runnable afterLeaving() {
        ClaimInFlight unwanted = unwanted();
        return unwanted == null ? NOTHING : unwanted::cancel;
    }

    /**
     * Ends a hold, and hands its grant on or gives it back; completes with whether it was given back, once that is
     * decided. A grant that the renewer has found lost by now makes the hold lost, even where its {@link #grantLost} is
     * only on its way.
     */
    abstract CompletableFuture<Boolean> passOn(HoldState closing);

    /** Makes an exclusive hold a shared one, in place; false if it is not open and surely held. */
    boolean downgrade(HoldState hold) {
        throw new IllegalStateException("only an exclusive hold can become a shared one: '" + name + "'");
    }

    /**
     * Notes where a caller comes from. Walking the stack costs as much as a hand-over does, so of those who come where
     * others are only a sample is asked.
     */
    final void recordPlace(Waiter waiter, boolean contended) {
        if (!contended || joined++ % PLACE_SAMPLE == 0) {
            waiter.recordPlace();
        }
    }

    /** A waiter whose outcome was set by other means leaves the queue. */
    void forget(Waiter waiter, NotAcquired.Reason why) {
        waiters.remove(waiter);
        engine.telemetry().notAcquired(name, waiter, why);
        transition(this::afterLeaving);
    }

    /**
     * The time of a waiter has passed. It leaves the queue, and hears that others hold the lock once the store proves to
     * answer: by the answer to the claim that is called off with it or, where others of this client wait on, otherwise.
     */
    final void timeOut(Waiter waiter) {
        transition(() -> {
            if (!waiters.remove(waiter)) {
                return NOTHING; // served or failed in this moment
            }
            ClaimInFlight unwanted = unwanted();
            if (unwanted != null) {
                return () -> {
                    unwanted.cancel();
                    endOnce(unwanted.settled(), waiter);
                };
            }
            return isSurelyHeldHere() ? timedOut(waiter) : () -> endOnce(engine.proof(name), waiter);
        });
    }

    private void endOnce(CompletableFuture<Void> proof, Waiter waiter) {
        Scheduled guard = proof.isDone() ? () -> {} : engine.afterLongestProof(() -> end(waiter, engine.noProof()));
        proof.whenComplete((answered, failure) -> {
            guard.cancel();
            end(waiter, failure);
        });
    }

    private void end(Waiter waiter, @Nullable Throwable failure) {
        transition(() -> failure == null ? timedOut(waiter) : fail(waiter, Failures.cause(failure)));
    }

    private Runnable timedOut(Waiter waiter) {
        if (!waiter.resolve(Waiter.EMPTY)) {
            return NOTHING;
        }
        engine.telemetry().notAcquired(name, waiter, NotAcquired.Reason.TIMED_OUT);
        return waiter::wake;
    }

    /** Whether a caller without a time limit has waited since then or longer. */
    final boolean hasWaitedSince(long nanos) {
        return waiters.stream().anyMatch(waiter -> waitsSince(waiter, nanos));
    }

    /** Fails the callers without a time limit who have waited since then or longer. */
    final void failSince(long nanos, Throwable why) {
        transition(() -> {
            List<Runnable> wakes = new ArrayList<>();
            for (Waiter waiter : List.copyOf(waiters)) {
                if (waitsSince(waiter, nanos) && waiters.remove(waiter)) {
                    wakes.add(fail(waiter, why));
                }
            }
            return both(all(wakes), afterLeaving());
        });
    }

    private static boolean waitsSince(Waiter waiter, long nanos) {
        return !waiter.timed && waiter.since - nanos <= 0;
    }

    /**
     * Closes a hold, or one entry of a re-entrant one.
     *
     * @param as which kind of entry; the last exclusive one closed before the last shared one leaves a reader
     */
    final void close(HoldState closing, LockMode as) {
        if (closing.isThreadBound()) {
            HoldState.Left left = closing.exit(as);
            if (left == HoldState.Left.READER) {
                downgrade(closing);
            }
            if (left != HoldState.Left.NOBODY) {
                throwIfLost(closing);
                return;
            }
            disown(closing);
        }
        if (!closing.grant.isValid()) {
            engine.renewer().examine(closing.grant); // a deadline that passed unnoticed counts before the close
        }
        CompletableFuture<Boolean> givenBack = passOn(closing);
        if (closing.options.awaitRelease() && engine.await(givenBack)) {
            engine.awaitRelease(closing);
        }
        throwIfLost(closing);
    }

    /** Closes a hold that nobody had in hand: waits for nothing, and a loss is nobody's. */
    final void giveBack(HoldState unwanted) {
        if (!unwanted.grant.isValid()) {
            engine.renewer().examine(unwanted.grant);
        }
        passOn(unwanted);
    }

    private static void throwIfLost(HoldState closing) {
        if (closing.isLost()) {
            throw closing.lostException();
        }
    }

    /** Makes a claim for the name in another way: behind the release of what lingers here, and of what is going back. */
    abstract void claimBehind(Runnable claim);

    // ---- whose the holds are ----

    /** The hold this thread has and may enter again, or has lost and not closed yet. */
    @Nullable
    HoldState ownedBy(Thread thread) {
        return owners.isEmpty() ? null : owners.get(thread);
    }

    /** Whether no thread has a hold here that it may still close. */
    boolean isUnowned() {
        return owners.isEmpty();
    }

    void own(Thread owner, HoldState hold) {
        owners.put(owner, hold);
    }

    void forgetOwner(Thread owner, HoldState hold) {
        owners.remove(owner, hold);
    }

    void forgetOwners() {
        owners.clear();
    }

    /** A lost hold that nobody can close any more leaves nothing of it behind. */
    final void forgetIfDropped(HoldState held) {
        if (!held.grant.isValid()) {
            engine.renewer().examine(held.grant);
        }
        if (held.isLost()) {
            disown(held);
        }
    }

    private void disown(HoldState closing) {
        Thread owner = closing.acquirer;
        if (owner != null && owners.remove(owner, closing)) {
            closing.unpin();
        }
        if (!closing.isOpen()) {
            transition(this::nextIfIdle); // it was lost, and this entry was all that kept the queue from retiring
        }
    }

    /** What comes next where nothing stands in the store and nothing is under way: a claim, or retirement. */
    abstract Runnable nextIfIdle();

    // ---- what the store and the renewer report ----

    /** Does something short with each open hold under a grant; under no mutex, so that it may end meanwhile. */
    abstract void forEachHoldOf(GrantState of, Consumer<HoldState> action);

    /** Does something short with each open hold under a grant, while it cannot end. */
    final void withHoldsOf(GrantState of, Consumer<HoldState> action) {
        mutex.lock();
        try {
            forEachHoldOf(of, action);
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Renews for this hold no more, provided that it is still open; false if not, or if that was decided before. The
     * grant runs out unless others hold by it.
     */
    abstract boolean stopRenewal(HoldState of, Loss.Cause cause);

    /** Notes what the store reports of a grant whose answer is still on its way, if one of this queue's claims is its. */
    abstract void heard(ClaimId id, Consumer<ClaimInFlight> news);

    /** The store confirmed a grant, which may have been in doubt. */
    final void confirmed(GrantState standing) {
        forEachHoldOf(standing, HoldState::tellOwner);
    }

    /** The renewer found that a grant has ended. */
    abstract void grantLost(GrantState lost, Loss.Cause cause);

    /** Ends it with its client: waiters fail, holds are lost, grants are given back. */
    abstract void shutDown(Throwable closed);

    /** Marks a hold lost and tells of it; under the mutex. */
    final Runnable tellLoss(HoldState loser, Loss.Cause cause) {
        if (!loser.lose(new Loss(name.name(), loser.token, cause, engine.storeDescription()))) {
            return NOTHING;
        }
        loser.tellOwner();
        Runnable watch = loser.isThreadBound() ? () -> forgetOwnerOnceDead(loser) : NOTHING;
        engine.telemetry().lost(loser);
        return both(
                () -> {
                    engine.telemetry().recordLost(loser);
                    loser.tellLoss();
                },
                watch);
    }

    /** A thread that ends or drops the hold it lost without closing it leaves an entry that nobody else would clear. */
    private void forgetOwnerOnceDead(HoldState lost) {
        Thread owner = lost.acquirer;
        if (owner == null || owners.get(owner) != lost) {
            return;
        }
        if (owner.isAlive() && lost.anchor() != null) {
            engine.time().schedule(() -> forgetOwnerOnceDead(lost), OWNER_CHECK);
        } else {
            disown(lost);
        }
    }

    /** Whether a grant that has ended here may still stand in the store, and is to be cleared there. */
    static boolean mayStillStand(GrantState lost, Loss.Cause cause) {
        return switch (cause) {
            case REFUSED, STORE -> false;
            case CLIENT_CLOSED -> true;
            case EXPIRED, LEASE_ENDED, MAXIMUM_HOLD, LEAKED -> lost.mayOutliveDeadline();
        };
    }

    // ---- telling waiters: under the mutex, return what is to be done after it ----

    final Runnable refuse(Waiter asker) {
        if (!asker.resolve(Waiter.EMPTY)) {
            return NOTHING;
        }
        engine.telemetry().notAcquired(name, asker, NotAcquired.Reason.TAKEN);
        return asker::wake;
    }

    /** A try without a grant: others have the lock, unless it was called off because the client is being closed. */
    final Runnable notGranted(Waiter asker) {
        return engine.isClosed() ? fail(asker, engine.closedException()) : refuse(asker);
    }

    final Runnable fail(Waiter waiter, Throwable failure) {
        if (!waiter.resolve(new Waiter.Outcome.Failed(failure))) {
            return NOTHING;
        }
        engine.telemetry().notAcquired(name, waiter, Telemetry.reason(failure));
        return waiter::wake;
    }

    /**
     * The outcome of a claim is unknown: what it may have left is cleared, and those it stood for are told. A claim that
     * was called off stands for nobody: if the store did not answer, those who have come since wait on, by a claim of
     * their own.
     */
    final Runnable failed(ClaimInFlight of, Throwable why) {
        Runnable tell;
        if (!of.claim.waits()) {
            tell = fail(of.asker, why);
        } else if (of.isCalledOff() && Failures.cause(why) instanceof StoreUnavailableException) {
            tell = NOTHING;
        } else {
            tell = failAll(why);
        }
        return both(() -> engine.withdraw(of.claim), tell);
    }

    final Runnable failAll(Throwable failure) {
        List<Runnable> wakes = new ArrayList<>();
        for (Waiter waiter = waiters.poll(); waiter != null; waiter = waiters.poll()) {
            wakes.add(fail(waiter, failure));
        }
        return all(wakes);
    }

    final void transition(Supplier<Runnable> step) {
        Runnable then;
        mutex.lock();
        try {
            then = step.get();
        } finally {
            mutex.unlock();
        }
        engine.telemetry().flush();
        then.run();
    }
}
