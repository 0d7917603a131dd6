package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
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
abstract sealed class WaitQueue implements GrantOwner permits ExclusiveQueue, SharedQueue {
    private static final int PLACE_SAMPLE = 16;
    private static final Duration OWNER_CHECK = Duration.ofSeconds(10);

    final EngineContext context;
    final LockName name;
    final ReentrantLock mutex = new ReentrantLock();
    final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    private final Map<Thread, HoldState> owners = new ConcurrentHashMap<>();

    private int joined; // a lost update only shifts the sample

    WaitQueue(EngineContext context, LockName name) {
        this.context = context;
        this.name = name;
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
        transition(() -> isRetired() ? () -> context.queues().retired(this) : NOTHING);
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

    @Override
    public boolean downgrade(HoldState hold) {
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
        context.telemetry().notAcquired(name, waiter, why);
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
            return isSurelyHeldHere()
                    ? timedOut(waiter)
                    : () -> endOnce(context.reachability().proof(name.inStore()), waiter);
        });
    }

    private void endOnce(CompletableFuture<Void> proof, Waiter waiter) {
        Scheduled guard = proof.isDone()
                ? () -> {}
                : context.reachability()
                        .afterLongestProof(
                                () -> end(waiter, context.reachability().noProof()));
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
        context.telemetry().notAcquired(name, waiter, NotAcquired.Reason.TIMED_OUT);
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

    @Override
    public final void close(HoldState closing, LockMode as) {
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
            context.renewer().examine(closing.grant); // a deadline that passed unnoticed counts before the close
        }
        CompletableFuture<Boolean> givenBack = endHold(closing);
        if (closing.options.awaitRelease() && context.await(givenBack)) {
            awaitRelease(closing);
        }
        throwIfLost(closing);
    }

    @Override
    public final void giveBack(HoldState unwanted) {
        if (!unwanted.grant.isValid()) {
            context.renewer().examine(unwanted.grant);
        }
        endHold(unwanted);
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

    @Override
    public final void forgetIfDropped(HoldState held) {
        if (!held.grant.isValid()) {
            context.renewer().examine(held.grant);
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
    abstract void onStoreNotice(ClaimId id, Consumer<ClaimInFlight> notice);

    @Override
    public final void confirmed(GrantState standing) {
        forEachHoldOf(standing, HoldState::tellOwner);
    }

    /** Ends it with its client: waiters fail, holds are lost, grants are given back. */
    abstract void shutDown(Throwable closed);

    /** Marks a hold lost and tells of it; under the mutex. */
    final Runnable tellLoss(HoldState loser, Loss.Cause cause) {
        if (!loser.lose(new Loss(name.name(), loser.token, cause, context.description()))) {
            return NOTHING;
        }
        loser.tellOwner();
        Runnable watch = loser.isThreadBound() ? () -> forgetOwnerOnceDead(loser) : NOTHING;
        context.telemetry().lost(loser);
        return both(
                () -> {
                    context.telemetry().recordLost(loser);
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
            context.time().schedule(() -> forgetOwnerOnceDead(lost), OWNER_CHECK);
        } else {
            disown(lost);
        }
    }

    /** Whether a grant that has ended here may still stand in the store, and is to be cleared there. */
    static boolean mayStillStand(GrantState lost, Loss.Cause cause) {
        return switch (cause) {
            case GONE_FROM_STORE, SESSION_ENDED -> false;
            case CLIENT_CLOSED -> true;
            case NOT_RENEWED_IN_TIME, FIXED_LEASE_ENDED, MAX_HOLD_REACHED, LEAKED -> lost.mayOutliveDeadline();
        };
    }

    /** A grant that the store gave to a claim of this queue, as it is seen here from now on. */
    final GrantState begin(Grant given, ClaimInFlight claim) {
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
                taker,
                context.renewer().leaks(),
                context.time().nanoTime());
    }

    // ---- telling waiters: under the mutex, return what is to be done after it ----

    final Runnable refuse(Waiter asker) {
        if (!asker.resolve(Waiter.EMPTY)) {
            return NOTHING;
        }
        context.telemetry().notAcquired(name, asker, NotAcquired.Reason.TAKEN);
        return asker::wake;
    }

    /** A try without a grant: others have the lock, unless it was called off because the client is being closed. */
    final Runnable notGranted(Waiter asker) {
        return context.isClosed() ? fail(asker, context.closedException()) : refuse(asker);
    }

    final Runnable fail(Waiter waiter, Throwable failure) {
        if (!waiter.resolve(new Waiter.Outcome.Failed(failure))) {
            return NOTHING;
        }
        context.telemetry().notAcquired(name, waiter, Telemetry.reason(failure));
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
        return both(() -> context.releaseSender().withdraw(of.claim), tell);
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
        context.telemetry().flush();
        then.run();
    }
}
