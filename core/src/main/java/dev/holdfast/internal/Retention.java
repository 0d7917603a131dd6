package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
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
 * like any other, and can be lost: {@link ExclusiveGrant} checks that before a caller gets it.
 *
 * <p>Guarded by the queue's mutex. The steps that its methods return run after the mutex is free.
 */
final class Retention implements RetainedGrants.Retained {
    private final ExclusiveQueue queue;
    private final EngineContext context;
    private final ExclusiveGrant grant;
    private final TokenBlock tokens;
    private boolean watched;
    /** The store has answered that it watches: from then on it reports waiters. */
    private boolean reported;

    private boolean wanted;
    private long unusedUntil;
    /** One for many uses: when it runs, it checks how long the grant has been unused. */
    private @Nullable Scheduled idleCheck;
    /** When it runs. */
    private long checkAt;

    Retention(ExclusiveQueue queue, ExclusiveGrant grant, TokenBlock tokens) {
        this.queue = queue;
        this.context = queue.context();
        this.grant = grant;
        this.tokens = tokens;
    }

    /** Whether the grant may be retained by the options of its last holder. */
    boolean isAllowed(HoldOptions options) {
        return !wanted && tokens.hasTokenLeft() && grant.state.renewal().goesOnFor(options) && !context.isClosed();
    }

    /** Whether other clients waited for it since its number was given. */
    boolean isWanted() {
        return wanted;
    }

    /** Whether the store reports when others wait. */
    boolean isReported() {
        return reported;
    }

    /** Has the store report when others wait, unless it does so already. */
    Runnable watch() {
        if (watched || wanted) {
            return NOTHING;
        }
        watched = true;
        Grant asked = grant.state.grant();
        return () -> ReleaseSender.guarded(() -> context.store().watch(asked))
                .whenComplete((waits, failure) ->
                        queue.transition(() -> isStill(asked) ? answered(waits, failure) : NOTHING));
    }

    /** Not for a number that it had before, which the store no longer knows. */
    private boolean isStill(Grant asked) {
        return queue.has(grant) && grant.state.grant().number() == asked.number();
    }

    private Runnable answered(@Nullable Boolean waits, @Nullable Throwable failure) {
        if (failure != null || waits == null) {
            watched = false;
            return queue.isIn(QueuePhase.RETAINED) ? grant.endRetention() : retryFor(grant.hold());
        }
        reported = true;
        return waits ? others() : NOTHING;
    }

    /** Without an answer, a holder that is not renewed would never be notified. */
    private Runnable retryFor(@Nullable HoldState hold) {
        if (hold == null || !hold.awaitsWanted()) {
            return NOTHING;
        }
        Duration after = grant.state.grant().lease().dividedBy(12);
        return () -> context.time()
                .schedule(
                        () -> queue.transition(() ->
                                queue.has(grant) && grant.hold() == hold && hold.awaitsWanted() ? watch() : NOTHING),
                        after);
    }

    /** Other clients wait. */
    Runnable others() {
        wanted = true;
        HoldState now = grant.hold();
        if (now != null) {
            now.noteWanted();
        }
        return queue.isIn(QueuePhase.RETAINED) ? grant.endRetention() : NOTHING;
    }

    /** It has a fresh number, which it only gets when no client waits. */
    void renumbered() {
        watched = false;
        reported = false;
        wanted = false;
    }

    /** No caller uses it now. */
    Runnable begin(HoldOptions options) {
        if (!context.capabilities().wanted()) { // of a lazy client's store, which has connected since it was asked
            return both(() -> context.retained().warnOnce(queue.name(), context.description()), grant.endRetention());
        }
        unusedUntil = context.time().nanoTime() + Durations.nanos(options.retain());
        return both(both(watch(), checkBy(unusedUntil)), resume());
    }

    /** Plans a check, unless one comes as early: the holder before may have asked for a longer time. */
    private Runnable checkBy(long at) {
        if (idleCheck != null && checkAt - at <= 0) {
            return NOTHING;
        }
        cancelCheck();
        PlannedCheck check = new PlannedCheck();
        idleCheck = check;
        checkAt = at;
        return () -> check.plan(Duration.ofNanos(Math.max(0, at - context.time().nanoTime())));
    }

    private void cancelCheck() {
        if (idleCheck != null) {
            idleCheck.cancel();
            idleCheck = null;
        }
    }

    private Runnable endIfUnused() {
        idleCheck = null;
        if (!queue.has(grant) || !queue.isIn(QueuePhase.RETAINED)) {
            return NOTHING; // in use: planned again when it is not
        }
        return unusedUntil - context.time().nanoTime() <= 0 ? grant.endRetention() : checkBy(unusedUntil);
    }

    /** Whether the grant can be given as it is to a caller that came while it is retained. */
    boolean mayTake(Waiter waiter) {
        HoldOptions options = waiter.options;
        return !wanted
                && grant.state.isValid()
                && grant.state.hasEnoughLease()
                && tokens.hasTokenLeft()
                && !options.strictFifo()
                && options.maxHandOvers() > 0
                && grant.state.fits(options);
    }

    /**
     * A caller came while it is retained: the caller gets the grant without a request, or else the grant ends first.
     */
    Runnable take() {
        for (Waiter first = queue.waiters.first(); first != null; first = queue.waiters.first()) {
            if (!mayTake(first)) {
                return grant.endRetention();
            }
            if (queue.waiters.remove(first)) {
                Optional<Runnable> taken = grant.giveTo(first);
                if (taken.isPresent()) {
                    return taken.get();
                }
            }
        }
        // No caller waits: the caller was served before, and has closed its hold, or it gave up meanwhile.
        return queue.isIn(QueuePhase.RETAINED) ? NOTHING : resume();
    }

    /** No caller has it: the last one closed it, or it was given to a caller that gave up in the same instant. */
    private Runnable resume() {
        queue.enter(QueuePhase.RETAINED);
        RetainedGrants.Retained tooMany = context.retained().add(this);
        Runnable evict = tooMany == null ? NOTHING : tooMany::evict;
        return queue.waiters.isEmpty() ? evict : both(evict, take()); // a caller that came meanwhile saw the hold
    }

    @Override
    public void evict() {
        queue.transition(() -> queue.has(grant) && queue.isIn(QueuePhase.RETAINED) ? grant.endRetention() : NOTHING);
    }

    /** A caller uses it. */
    void pause() {
        context.retained().remove(this);
    }

    /** It no longer belongs to this queue, or is about to be released. */
    void end() {
        pause();
        cancelCheck();
    }

    /** A check that is planned after the mutex is free, and may be cancelled before that. */
    private final class PlannedCheck implements Scheduled {
        private volatile boolean cancelled;
        private volatile @Nullable Scheduled planned;

        void plan(Duration delay) {
            planned = context.time().schedule(this::run, delay);
            if (cancelled) {
                cancel();
            }
        }

        private void run() {
            queue.transition(() -> idleCheck == this ? endIfUnused() : NOTHING);
        }

        @Override
        public void cancel() {
            cancelled = true;
            Scheduled now = planned;
            if (now != null) {
                now.cancel();
            }
        }
    }
}
