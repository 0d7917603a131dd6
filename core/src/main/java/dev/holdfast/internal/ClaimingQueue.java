package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.ClientClosedException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A queue with at most one claim in the store: which phase it is in, and what follows when nothing of it is left there.
 *
 * <pre>
 *   IDLE ── first waiter, or a caller that does not wait ──► CLAIMING ── answered without a grant ──► IDLE
 *    └───── neither is left ──► RETIRED
 * </pre>
 *
 * <p>What follows a grant is decided by {@link ExclusiveQueue}. The phase may be read at any time; all else is guarded by
 * the mutex.
 */
abstract class ClaimingQueue extends WaitQueue {
    private volatile QueuePhase phase = QueuePhase.IDLE;
    private @Nullable ClaimInFlight claiming;
    private @Nullable Waiter nextTry;

    /** A lock that no caller wants yet. */
    ClaimingQueue(EngineContext context, LockName name) {
        super(context, name);
    }

    // ---- the phase ----

    final QueuePhase phase() {
        return phase;
    }

    final boolean isIn(QueuePhase asked) {
        return phase == asked;
    }

    /** What follows reads the queue after this. */
    final void enter(QueuePhase next) {
        phase = next;
    }

    @Override
    final boolean isRetired() {
        return phase == QueuePhase.RETIRED;
    }

    // ---- the caller that does not wait ----

    /** Whether a caller that does not wait is to make a claim of its own once the grant is back. */
    final boolean hasTry() {
        return nextTry != null;
    }

    /** The next claim is this caller's. */
    final void tryNext(Waiter waiter) {
        nextTry = waiter;
    }

    // ---- the claim ----

    @Override
    @Nullable
    final ClaimInFlight unwanted() {
        ClaimInFlight asked = claiming;
        return asked != null && asked.claim.waits() && waiters.isEmpty() ? asked : null;
    }

    @Override
    final Stream<ClaimInFlight> claims() {
        return Stream.ofNullable(claiming);
    }

    @Override
    final void forgetClaim(ClaimInFlight answered) {
        claiming = null;
    }

    @Override
    final Runnable afterClaim() {
        return next();
    }

    @Override
    final Runnable nextIfIdle() {
        return phase == QueuePhase.IDLE ? next() : NOTHING;
    }

    /** Nothing of this queue is left in the store: a claim for the next caller, or retirement. */
    final Runnable next() {
        phase = QueuePhase.IDLE;
        Waiter first = nextTry == null ? waiters.first() : nextTry;
        nextTry = null;
        if (first != null && context.isClosed()) {
            ClientClosedException closed = context.closedException();
            return both(both(waiters.fail(first, closed), waiters.failAll(closed)), this::nextAfterClose);
        }
        if (first == null && owners.isEmpty()) {
            phase = QueuePhase.RETIRED;
            first = waiters.first(); // one who joined in between may have seen the phase before or after
            if (first == null) {
                return () -> context.queues()
                        .retired(this); // after what else this step does: until then the client is not quiet
            }
        }
        return first == null ? NOTHING : claim(first);
    }

    private void nextAfterClose() {
        transition(this::nextIfIdle);
    }

    final Runnable claim(Waiter asker) {
        ClaimInFlight started = new ClaimInFlight(context.claims().claimFor(name, asker), asker, this::answered);
        phase = QueuePhase.CLAIMING;
        claiming = started;
        return () -> context.queues().send(started, name);
    }
}
