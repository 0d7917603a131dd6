package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What a step of a lock's state has decided, to be done once its mutex is free: plain values, in the order in which they were
 * added. Under the mutex nothing is called that may wait or call back; here everything is.
 *
 * <pre>
 *   mutex ─► step: state changes, effects are added ─► mutex free ─► flush ─► effect, effect, effect
 * </pre>
 *
 * <p>An Error, such as of memory, may end anything at any time, and no state may be left that waits for what then never comes.
 * So each effect runs though one before it has thrown, also those of a step that ended with an Error half-way: a waiter whose
 * outcome is set is woken. And an effect that has thrown is told: it runs once more or, where it may not run twice, does what
 * lets the lock go on. If that throws too, it is told a second time: Errors often come in a row. For one thread.
 */
final class Effects implements AutoCloseable {
    /** Enough for nearly every step, so that adding one does not allocate. */
    private static final int FEW = 4;
    /** How often something is tried again that throws then too: Errors often come in a row. */
    static final int TRIES = 2;

    /** One thing to be done. */
    @FunctionalInterface
    interface Effect extends Runnable {
        /** It has thrown, perhaps before it did anything and perhaps after all; told again where this throws too. */
        default void hasThrown(Throwable why) {
            run();
        }
    }

    /** One thing to be done that nothing waits for. */
    @FunctionalInterface
    interface Note extends Effect {
        @Override
        default void hasThrown(Throwable why) {
            // it is not told twice
        }
    }

    /** Whose mutex these have until they are closed. */
    private final @Nullable LocalLock lock;

    private Effect[] effects = new Effect[FEW];
    private int size;
    private int next;

    /** Effects of no step. */
    Effects() {
        lock = null;
    }

    /** Effects of a step of a lock. */
    Effects(LocalLock lock) {
        this.lock = lock;
    }

    /** Makes room for one more, so that adding it cannot fail: called before a step that must not stop half-way. */
    void reserve() {
        if (size == effects.length) {
            effects = Arrays.copyOf(effects, 2 * size);
        }
    }

    void add(Effect effect) {
        reserve();
        effects[size++] = effect;
    }

    /**
     * Sets the outcome of a waiter, which is then woken; false if it was set before. Room is made first. So nothing can fail
     * once the outcome is set, and the waiter is always woken.
     */
    boolean resolve(Waiter waiter, Object outcome) {
        reserve();
        boolean first = waiter.resolve(outcome);
        if (first) {
            effects[size++] = waiter;
        }
        return first;
    }

    /** Ends the step, also where an Error ended it half-way: frees the mutex, and does what was decided. */
    @Override
    public void close() {
        try {
            if (lock != null) {
                try {
                    lock.readersMayFollow(this);
                } finally {
                    lock.mutex.unlock(); // in one call: a stack that is nearly full must have room for it
                }
                lock.engine.dispatcher.hurry();
            }
        } finally {
            run();
        }
    }

    /** Runs all that have not run yet, one after another; throws what the first one threw that failed. */
    void run() {
        Throwable thrown = null;
        while (next < size) {
            Effect effect = effects[next++];
            try {
                effect.run();
            } catch (Throwable broken) {
                thrown = thrown == null ? broken : thrown;
                tell(effect, broken);
            }
        }
        if (thrown != null) {
            throw Failures.unchecked(thrown);
        }
    }

    private static void tell(Effect effect, Throwable broken) {
        for (int tries = 0; tries < TRIES; tries++) {
            try {
                effect.hasThrown(broken);
                return;
            } catch (Throwable again) {
                // the third in a row: the lease ends what this leaves in the store, and a waiter may sleep on
            }
        }
    }

    /** Does what nothing else would do: tries again where an Error, such as of memory, prevents it. Throws what the last try threw. */
    static void surely(Runnable what) {
        for (int tries = 0; ; tries++) {
            try {
                what.run();
                return;
            } catch (Throwable broken) {
                if (tries == TRIES) {
                    throw broken;
                }
            }
        }
    }

    @Override
    public String toString() {
        return Arrays.asList(effects).subList(0, size).toString();
    }

    // ---- claims; a waiter to be woken, a queue that goes on, and a lock that retires are effects themselves ----

    /** No caller wants the claim any more. */
    record Cancel(ClaimInFlight claim) implements Effect {
        @Override
        public void run() {
            claim.cancel();
        }
    }

    /** The claim may have left something in the store that nobody knows of. */
    record Withdraw(ClaimInFlight claim) implements Effect {
        @Override
        public void run() {
            claim.queue.engine.releaseSender.withdraw(claim.claim);
        }
    }

    // ---- a grant between two holds, and its end ----

    /** The grant goes back once the store is about to send, unless a caller takes it over. */
    record Linger(ExclusiveQueue queue, GrantState grant) implements Effect {
        @Override
        public void run() {
            queue.engine.store.beforeSending(
                    queue.name, () -> queue.lock.transition(then -> queue.endOfLinger(grant, then)));
        }
    }

    /** The store is asked for a fresh grant number. */
    record FreshNumber(ExclusiveQueue queue, GrantState grant) implements Effect {
        @Override
        public void run() {
            queue.engine.renewer.renumber(grant, standing -> queue.refreshed(grant, standing, true));
        }

        @Override
        public void hasThrown(Throwable why) {
            queue.refreshed(grant, false, true);
        }
    }

    /** The grant is renewed with the lease of its next holder. */
    record RenewFor(ExclusiveQueue queue, GrantState grant, HoldOptions next) implements Effect {
        @Override
        public void run() {
            queue.engine.renewer.renewFor(grant, next, standing -> queue.refreshed(grant, standing, false));
        }

        @Override
        public void hasThrown(Throwable why) {
            queue.refreshed(grant, false, false);
        }
    }

    /**
     * The grant goes back, and claims that wait for that follow; or it has ended here, and may still exist in the store.
     *
     * @param last the hold closed last under it, whose loss is reported if the grant turns out to have been gone; null when that
     *     is known already
     * @param answer the store's, once there is one: whether the grant had still been there; the caller that closed may wait for it
     */
    record Release(
            LocalLock lock, GrantState grant, @Nullable HoldState last, CompletableFuture<Boolean> answer)
            implements Effect {
        private static final CompletableFuture<Boolean> NOW = CompletableFuture.completedFuture(true);

        @Override
        public void run() {
            CompletableFuture<Boolean> answered = lock.engine.releaseSender.release(this);
            boolean mayFollowNow = lock.engine.store.capabilities().ordered(); // requests take effect as they are made
            (mayFollowNow ? NOW : answered).whenComplete((held, failure) -> lock.claimsMayFollow(grant));
        }

        @Override
        public void hasThrown(Throwable why) {
            try {
                lock.engine.releaseSender.failed(this, why, lock.engine.time.nanoTime());
            } finally {
                lock.claimsMayFollow(grant);
            }
        }
    }

    /** The store is asked to let readers of other clients in, beside a grant whose holder reads from now on. */
    record Downgrade(WaitQueue queue, GrantState grant) implements Effect {
        @Override
        public void run() {
            if (grant.owner == queue) {
                return; // an Error ended the step before the readers had it
            }
            queue.engine.releaseSender.downgrade(grant).thenAccept(done -> {
                if (!done && grant.owner instanceof SharedQueue readers) {
                    readers.notDowngraded(grant);
                }
            });
        }
    }

    // ---- those who hold, or held ----

    /** A hold was lost. */
    record Tell(WaitQueue queue, HoldState hold) implements Effect {
        @Override
        public void run() {
            try {
                queue.engine.telemetry.recordLost(hold);
                hold.tellLoss();
            } finally {
                queue.disownOnceDead(hold);
            }
        }

        @Override
        public void hasThrown(Throwable why) {
            queue.disownOnceDead(hold);
        }
    }
}
