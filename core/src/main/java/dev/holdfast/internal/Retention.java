package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.internal.ExclusiveQueue.Phase;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether others want the grant of an {@link ExclusiveQueue}, and how long it is retained while no caller here uses it.
 *
 * <pre>
 *   last hold closed, no waiter here, not wanted ──► RETAINED ── used again ──► HELD, no request
 *                                                          │
 *                  unused for long · wanted · one too many ┴──► RELEASING
 * </pre>
 *
 * <p>The client asks the store to watch a grant when a holder calls {@code onWanted}, or when the grant is first retained.
 * The answer says whether a client waits already, so an earlier waiter is not missed. A grant that the store does not watch
 * is not retained. If a message is lost, the next renewal reports the waiter. While it is retained, the grant is renewed
 * like any other, and can be lost: that is checked before a caller gets it.
 *
 * <p>Guarded by the queue's mutex.
 */
final class Retention {
    private final ExclusiveQueue queue;
    private final Engine engine;
    private final GrantState grant;
    private boolean watched;
    /** The store has answered that it watches: from then on it reports waiters. */
    boolean reported;
    /** Whether other clients waited for it since its number was given. */
    boolean wanted;

    private long unusedUntil;
    /** One for many uses: when it runs, it checks how long the grant has been unused. */
    private @Nullable PlannedCheck idleCheck;

    Retention(ExclusiveQueue queue, GrantState grant) {
        this.queue = queue;
        this.engine = queue.engine;
        this.grant = grant;
    }

    /** Whether the grant may be retained by the options of its last holder. */
    boolean isAllowed(HoldOptions options) {
        return !wanted && grant.hasTokenLeft() && grant.goesOnFor(options) && !engine.isClosed();
    }

    private boolean isRetained() {
        return queue.has(grant) && queue.isIn(Phase.RETAINED);
    }

    // ---- what the store reports ----

    /** Has the store report when others wait, unless it does so already. */
    void watch(Effects then) {
        if (!watched && !wanted) {
            then.add(new Watch(this, grant.grant()));
            watched = true;
        }
    }

    private record Watch(Retention of, Grant asked) implements Effects.Effect {
        @Override
        public void run() {
            of.engine.store.watch(asked).whenComplete(this::answered);
        }

        @Override
        public void hasThrown(Throwable why) {
            answered(null, why);
        }

        private void answered(@Nullable Boolean waits, @Nullable Throwable failure) {
            of.queue.lock.transition(then -> of.answered(asked, waits, failure, then));
        }
    }

    private void answered(Grant asked, @Nullable Boolean waits, @Nullable Throwable failure, Effects then) {
        if (!queue.has(grant) || grant.grant().number() != asked.number()) {
            return; // asked with a number that it had before, which the store no longer knows
        }
        if (failure != null || waits == null) {
            watched = false;
            HoldState hold = queue.hold;
            if (isRetained()) {
                queue.endRetention(then);
            } else if (hold != null && hold.awaitsWanted()) { // one that is not renewed would never be notified
                Duration after = grant.grant().lease().dividedBy(12);
                Runnable again = () -> queue.lock.transition(later -> watchFor(hold, later));
                then.add(() -> engine.time.schedule(again, after));
            }
            return;
        }
        reported = true;
        if (waits) {
            others(then);
        }
    }

    private void watchFor(HoldState hold, Effects then) {
        if (queue.has(grant) && queue.hold == hold && hold.awaitsWanted()) {
            watch(then);
        }
    }

    /** Other clients wait. */
    void others(Effects then) {
        wanted = true;
        HoldState now = queue.hold;
        if (now != null) {
            now.noteWanted();
        }
        if (isRetained()) {
            queue.endRetention(then);
        }
    }

    /** It has a fresh number, which it only gets when no client waits. */
    void renumbered() {
        watched = false;
        reported = false;
        wanted = false;
    }

    // ---- while no caller uses it ----

    /** No caller uses it now. */
    void begin(HoldOptions options, Effects then) {
        if (!engine.store.capabilities().wanted()) { // of a lazy client's store, which has connected since it was asked
            then.add(() -> engine.telemetry.notRetained(queue.name));
            queue.endRetention(then);
            return;
        }
        unusedUntil = engine.time.nanoTime() + Durations.nanos(options.retain());
        watch(then);
        checkBy(unusedUntil, then);
        resume(then);
    }

    /** Plans a check, unless one comes as early: the holder before may have asked for a longer time. */
    private void checkBy(long at, Effects then) {
        if (idleCheck != null && idleCheck.at - at <= 0) {
            return;
        }
        cancelCheck();
        PlannedCheck check = new PlannedCheck(at);
        then.add(check);
        idleCheck = check;
    }

    private void cancelCheck() {
        if (idleCheck != null) {
            idleCheck.cancel();
            idleCheck = null;
        }
    }

    private void endIfUnused(Effects then) {
        idleCheck = null;
        if (!isRetained()) {
            return; // in use: planned again when it is not
        }
        if (unusedUntil - engine.time.nanoTime() <= 0) {
            queue.endRetention(then);
        } else {
            checkBy(unusedUntil, then);
        }
    }

    /** Whether the grant can be given as it is to a caller that came while it is retained. */
    boolean mayTake(Waiter waiter) {
        HoldOptions options = waiter.options;
        return !wanted
                && grant.hasEnoughLease() // so it is valid, too
                && grant.hasTokenLeft()
                && !options.strictFifo()
                && options.maxHandOvers() > 0
                && grant.fits(options);
    }

    /**
     * A caller came while it is retained: the caller gets the grant without a request, or else the grant ends first.
     */
    void take(Effects then) {
        for (Waiter first = queue.waiters.peek(); first != null; first = queue.waiters.peek()) {
            if (!mayTake(first)) {
                queue.endRetention(then);
                return;
            }
            if (queue.waiters.remove(first) && queue.giveTo(first, grant, then)) {
                return;
            }
        }
        if (!queue.isIn(Phase.RETAINED)) {
            resume(then); // no caller waits: the one it was given to gave up meanwhile
        }
    }

    /** No caller has it: the last one closed it, or it was given to a caller that gave up in the same instant. */
    private void resume(Effects then) {
        queue.phase = Phase.RETAINED; // what follows reads the queue after this
        Retention tooMany = engine.retained.add(this);
        if (tooMany != null) {
            then.add(tooMany::evict);
        }
        if (!queue.waiters.isEmpty()) {
            take(then); // a caller that came meanwhile saw the hold
        }
    }

    /** Too many are retained, or it cannot be checked: it is released unless it is in use again. Under no mutex. */
    void evict() {
        queue.lock.transition(then -> {
            cancelCheck(); // planned again at the next end of its use
            if (isRetained()) {
                queue.endRetention(then);
            }
        });
    }

    /** A caller uses it. */
    void pause() {
        engine.retained.remove(this);
    }

    /** It no longer belongs to this queue, or is about to be released. */
    void end() {
        pause();
        cancelCheck();
    }

    /** A check that is planned after the mutex is free, and may be cancelled before that. */
    private final class PlannedCheck implements Effects.Effect {
        private final long at;
        private volatile boolean cancelled;
        private volatile @Nullable Scheduled planned;

        PlannedCheck(long at) {
            this.at = at;
        }

        @Override
        public void run() {
            Duration delay = Duration.ofNanos(Math.max(0, at - engine.time.nanoTime()));
            planned = engine.time.schedule(this::check, delay);
            if (cancelled) {
                cancel();
            }
        }

        /** If the timer refuses again, nothing else would end the retention. */
        @Override
        public void hasThrown(Throwable why) {
            try {
                run();
            } catch (Throwable refused) {
                evict();
            }
        }

        private void check() {
            queue.lock.transition(then -> {
                if (idleCheck == this) {
                    endIfUnused(then);
                }
            });
        }

        void cancel() {
            cancelled = true;
            Scheduled now = planned;
            if (now != null) {
                now.cancel();
            }
        }
    }
}
