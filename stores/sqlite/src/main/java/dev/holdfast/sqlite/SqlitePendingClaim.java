package dev.holdfast.sqlite;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.WaiterExpiry;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim that waits.
 *
 * <p>The {@link SqliteWorker}'s thread writes its place and its answer; both threads share the rest: the waiters' thread
 * requests a try only while none is under way.
 */
final class SqlitePendingClaim implements Pending {
    private final Claim claim;
    private final Consumer<SqlitePendingClaim> leave;
    private final Answer answer;

    /** How often its place must be kept alive. */
    final long keepNanos;

    private volatile long place = SqliteLocks.NO_PLACE;
    private volatile boolean cancelled;

    /** A try is under way. */
    volatile boolean trying;

    /** A try threw, perhaps after it had been granted the lock or had entered the queue. The worker's thread's alone. */
    private boolean unsettled;

    /** Whether it is the claim's turn must be read again. */
    volatile boolean stale = true;

    /** When the claim may try even if nothing changes; by the store's clock. */
    volatile long due;

    /** How far it was from its turn at the last poll; the waiters' thread's alone. */
    private ChangePoller.@Nullable Turn last;

    /**
     * A claim that has no place yet.
     *
     * @param leave gives up its place, and answers
     * @param ended hears of the answer
     */
    SqlitePendingClaim(
            Claim claim, Answer answer, Consumer<SqlitePendingClaim> leave, Consumer<SqlitePendingClaim> ended) {
        this.claim = claim;
        this.answer = answer.after(() -> ended.accept(this));
        this.keepNanos = WaiterExpiry.third(claim).toNanos();
        this.leave = leave;
    }

    Claim claim() {
        return claim;
    }

    long place() {
        return place;
    }

    boolean hasPlace() {
        return place != SqliteLocks.NO_PLACE;
    }

    /** How many claims are before it in the queue, as far as it is known. On the waiters' thread. */
    int ahead() {
        return last == null ? 0 : last.ahead();
    }

    /**
     * Keeps how far it is from its turn. On the waiters' thread.
     *
     * @return whether that is news: it has just entered the queue, its place is gone, others before it have left, the lock
     *     has become free or is taken, or it is its turn
     */
    boolean moved(ChangePoller.Turn turn) {
        ChangePoller.Turn before = last;
        last = turn;
        return before == null
                || turn.lost()
                || turn.nanos() == 0
                || turn.ahead() != before.ahead()
                || turn.fits() != before.fits();
    }

    void losePlace() {
        place = SqliteLocks.NO_PLACE;
    }

    @Override
    public void cancel() {
        if (!cancelled && !answer.isGiven()) {
            cancelled = true;
            leave.accept(this);
        }
    }

    /** Tries to acquire the lock; otherwise enters the queue, unless it has a place there. Runs on the worker's thread. */
    void tryNow(SqliteLocks table) {
        if (cancelled || answer.isGiven()) {
            return;
        }
        if (!hasPlace()) {
            dequeue(table); // a place that it does not know of would be before it
        }
        unsettled = true;
        Optional<Grant> grant = table.claim(claim, place);
        if (grant.isPresent()) {
            long served = place;
            if (cancelled || !answer.granted(grant.get())) {
                table.release(claim.name(), claim.mode(), claim.id()); // it was cancelled or failed meanwhile
            }
            if (served != SqliteLocks.NO_PLACE) {
                table.forgetPlaces(claim, served); // after the answer: no caller waits for this
            }
        } else if (!hasPlace()) {
            place = table.enqueue(claim);
        }
        unsettled = false;
    }

    /** Leaves the queue and answers with no grant. Runs on the worker's thread. */
    void leave(SqliteLocks table) {
        if (answer.isGiven()) {
            return;
        }
        dequeue(table);
        if (unsettled) {
            table.release(claim.name(), claim.mode(), claim.id());
        }
        answer.refused();
    }

    /** Gives up the place that it has or may have. Runs on the worker's thread. */
    void dequeue(SqliteLocks table) {
        if (hasPlace() || unsettled) {
            table.dequeue(claim.name(), claim.id());
        }
    }

    void fail(Throwable failure) {
        answer.failed(failure);
    }

    boolean isDone() {
        return answer.isGiven();
    }
}
