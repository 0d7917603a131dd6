package dev.holdfast.sqlite;

import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.PagedListing;
import dev.holdfast.spi.support.WaiterExpiry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The statements on one connection, as operations on locks. Each is one statement outside any transaction unless it says
 * otherwise, waits no longer than its {@link BusyTimeout}, and fails with a {@link dev.holdfast.HoldfastException}.
 *
 * <p>For one thread.
 */
interface SqliteLocks extends AutoCloseable {
    /** How long a place in the queue counts at most unless it is kept alive; see {@link WaiterExpiry}. */
    Duration PLACE_LIFE = WaiterExpiry.LONGEST;

    /** The place of a claim that is not in the queue: behind all others. */
    long NO_PLACE = Long.MAX_VALUE;

    /** Reads whether a claim that does not queue could be granted now. Writes and locks nothing. */
    boolean couldBeGranted(Claim claim);

    /**
     * Takes the lock if it is this claim's already, or if the claim fits beside its holders and it is the claim's turn.
     *
     * @param place its place in the queue, or {@link #NO_PLACE}
     */
    Optional<Grant> claim(Claim claim, long place);

    /** Enters the queue at its end; returns the place: higher than every earlier one of that name. */
    long enqueue(Claim claim);

    /** Keeps places in the queue alive: each for its life from now on. At most {@link SqliteDatabase#chunk()}. */
    void keepPlaces(List<Place> places);

    /** Removes what a claim whose place was served leaves in the queue; such rows no longer count. */
    void forgetPlaces(Claim claim, long served);

    /** Gives up the place of a claim, if it has one. */
    void dequeue(String name, ClaimId id);

    /** Renews grants in one statement; at most {@link SqliteDatabase#chunk()} of them, sorted by name. */
    Map<ClaimId, Renewal> renew(List<Grant> grants);

    /** The exclusive grants that are valid, and whether others wait for them; at most {@link SqliteDatabase#chunk()} grants. */
    Map<ClaimId, Boolean> valid(List<Grant> grants);

    Optional<Grant> extend(Grant grant);

    /** Makes an exclusive grant a reader's; returns whether it is one now. Callers may still give its first mode. */
    boolean downgrade(Grant grant);

    boolean release(String name, Mode mode, ClaimId id);

    boolean breakGrant(String name, long number, boolean now);

    LockStatus status(String name);

    /** The locks after a name that are held or waited for, as many as one request may read. */
    PagedListing.Page<LockStatus> list(String prefix, String after);

    /** The waiting claims, by name and in the order of their queues. */
    List<LockWaiter> waiters(String prefix);

    /**
     * Removes one small batch of rows unused for long.
     *
     * @param after where the previous batch ended; empty to begin
     * @return where this batch ended; empty at the end
     */
    String purge(String after);

    /** When all rows unused for long were last removed, by the store's clock; 0 if unknown. */
    long purgedAtMicros();

    /** The record of a name, and the store's clock. */
    RecordReading readRecord(String name);

    /** Writes a record if its token and its revision are admitted. */
    Optional<StoredRecord> writeRecord(RecordWrite write);

    /** The records after a name, as many as one request may read; none at the end. */
    PagedListing.Page<StoredRecord> records(String prefix, String after);

    /**
     * A request has been answered. What takes long and can wait is done here, if that request was granted a lock: while this
     * client holds it, no other overtakes this client in its queue.
     */
    void atRest();

    @Override
    void close();

    /** A place in the queue of a name, and how long it counts unless it is kept alive. */
    record Place(String name, long arrival, Duration life) {}
}
