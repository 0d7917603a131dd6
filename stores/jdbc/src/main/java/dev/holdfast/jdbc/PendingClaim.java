package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.WaiterExpiry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A claim that waits.
 *
 * <pre>
 *   ask ──► claim ── granted ─────────────────────────────────► answered
 *    ▲        │ held by others                                     ▲
 *    │        ▼                                                    │
 *    │      in the queue ── cancel ──► place and offer given up ───┘
 *    │        │
 *    └────────┘ offered the lock · a lease is over · time to poll
 * </pre>
 *
 * <p>Every question is the same claim under its id: it confirms an offer, keeps the place, or enters the queue again. A
 * wait outlives a server that is away; only a refusal ends it. Its state belongs to the worker's thread.
 */
final class PendingClaim extends Request.Claiming implements Pending {
    /** How often a claim that would be notified polls all the same, in case a message was lost. */
    private static final long SAFETY_NANOS = Duration.ofSeconds(3).toNanos();

    /** Without notifications it polls every sixteenth of the time in which nothing has moved, within these bounds. */
    private static final long QUICKEST_POLL = TimeUnit.MICROSECONDS.toNanos(250);

    private static final long SLOWEST_POLL = Duration.ofMillis(20).toNanos();
    private static final long SHARE = 16;

    /** While a turn may be over any moment, it polls by the statement that would take the lock at once. */
    private static final long SHORT_TURN = Duration.ofMillis(3).toNanos();

    /** With notifications it polls as well at first: PostgreSQL's driver delays a message by a millisecond. */
    private static final long POLLS_BESIDE = Duration.ofMillis(20).toNanos();

    private final PendingClaims queue;
    private final ConnectionWorker worker;
    private final Answer answer;
    private final AtomicBoolean asked = new AtomicBoolean();
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private volatile boolean offered;
    private volatile boolean placed;
    private String before = "";
    private long moved = System.nanoTime();
    private int failures;
    private @Nullable HoldfastException unanswered;
    private long plan;

    PendingClaim(Claim claim, Answer answer, PendingClaims queue, ConnectionWorker worker) {
        super(claim);
        this.answer = answer.after(() -> queue.ended(this));
        this.queue = queue;
        this.worker = worker;
    }

    Claim claim() {
        return claim;
    }

    ConnectionWorker worker() {
        return worker;
    }

    /** Asks the store whether it is our turn. An Error is an answer too: nothing else might ask again. */
    void ask() {
        if (!answer.isGiven() && asked.compareAndSet(false, true)) {
            since = System.nanoTime();
            try {
                worker.add(this);
            } catch (Throwable notAsked) {
                answer.failed(notAsked);
            }
        }
    }

    /** It was offered the lock. */
    void offered() {
        offered = true;
        ask();
    }

    @Override
    public void cancel() {
        if (!answer.isGiven() && cancelled.compareAndSet(false, true)) {
            worker.ask("cancel", claim.name(), table -> {
                        if (!answer.isGiven()) {
                            boolean waited = table.withdraw(claim.name(), claim.id());
                            if (worker.wasSentTwice(claim.id())) {
                                ServerStore.withdrawLater(worker, claim.name(), claim.id(), claim.lease());
                            }
                            end(waited ? null : unanswered);
                        }
                        return true;
                    })
                    .whenComplete((left, failure) -> {
                        if (failure != null) {
                            answer.failed(failure);
                        }
                    });
        }
    }

    /** A server that can be read, and takes no writes, has said nothing about this claim. */
    private void end(@Nullable HoldfastException lastFailure) {
        if (lastFailure == null) {
            answer.refused();
        } else {
            answer.failed(lastFailure);
        }
    }

    @Override
    boolean run(LockRows table, @Nullable String released) throws SQLException {
        if (answer.isGiven() || cancelled.get()) {
            asked.set(false);
            return released != null && table.release(claim.name(), ClaimId.of(released));
        }
        boolean listening = queue.offerListener().isOpen();
        boolean woken = offered;
        offered = false; // before the statement: a message that comes while it is under way counts for the next
        LockRows.Answer said = claim(table, released, woken);
        asked.set(false);
        failures = 0;
        unanswered = null;
        queue.reachable();
        placed = said.grant().isEmpty();
        if (!said.before().equals(before)) {
            before = said.before();
            moved = System.nanoTime();
        }
        if (said.grant().isPresent()) {
            take(table, said.grant().get());
        } else if (listening) {
            queue.offerListener().watch(claim.id().value(), said.before());
            pollIn(Math.min(
                    nextPoll(said), Pauses.jittered(WaiterExpiry.third(claim).toNanos())));
        } else { // it keeps its place, and polls often enough to find an offer whose message it does not receive
            queue.offerListener().open();
            pollIn(Math.min(nextPoll(said), SLOWEST_POLL * 10));
        }
        if (offered) {
            ask(); // offered meanwhile, when it could not be asked
        }
        return said.releasedHeld();
    }

    private LockRows.Answer claim(LockRows table, @Nullable String released, boolean woken) throws SQLException {
        boolean likely = woken || System.nanoTime() - moved <= SHORT_TURN;
        boolean withoutReading = !placed
                || released != null
                || (likely && queue.tables().dialect().givesRowsBack());
        return withoutReading ? table.claim(claim, released, queue.channel()) : table.poll(claim, queue.channel());
    }

    /** A claim that was called off meanwhile leaves the grant to the cancel behind it, which takes all back. */
    private void take(LockRows table, Grant grant) throws SQLException {
        if (!cancelled.get() && !answer.granted(grant)) {
            table.release(claim.name(), claim.id()); // it failed meanwhile
        }
    }

    /** A failure that passes: asks again, the later the longer it lasts. */
    @Override
    void fail(HoldfastException failure) {
        asked.set(false);
        if (failure instanceof StoreRefusedException || failure instanceof ClientClosedException || cancelled.get()) {
            answer.failed(failure);
            return;
        }
        unanswered = failure;
        queue.unreachable(claim, failure);
        try {
            pollIn(Pauses.beforeRetry(failures++));
        } catch (Throwable notPlanned) {
            answer.failed(failure);
        }
    }

    /** Gives up its place. On the worker's thread, when the store closes. */
    void giveUp(LockRows table) throws SQLException {
        if (placed && !answer.isGiven()) {
            table.withdraw(claim.name(), claim.id());
        }
    }

    private void pollIn(long nanos) {
        long mine = ++plan;
        worker.later(nanos, () -> {
            if (plan == mine) {
                ask();
            }
        });
    }

    /** When a lease in the way is over, the first in the queue a little before the others; or in case a message was lost. */
    private long nextPoll(LockRows.Answer said) {
        long atEnd = TimeUnit.MICROSECONDS.toNanos(said.microsToNextEnd())
                + TimeUnit.MILLISECONDS.toNanos(1 + 3L * said.ahead());
        long quiet = System.nanoTime() - moved;
        boolean notified = queue.tables().dialect().pushes() && (said.ahead() > 0 || quiet > POLLS_BESIDE);
        return Math.min(atEnd, notified ? Pauses.jittered(SAFETY_NANOS) : quickPoll(quiet, said.ahead()));
    }

    /** Soon when something has just moved, then ever less often; those further back poll less often. */
    private static long quickPoll(long quiet, int ahead) {
        long pause = Math.max(QUICKEST_POLL, Math.min(quiet / SHARE, SLOWEST_POLL));
        return Pauses.jittered(pause * Math.min(ahead + 1, 10));
    }
}
