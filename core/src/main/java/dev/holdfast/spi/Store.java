package dev.holdfast.spi;

import dev.holdfast.Capabilities;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.UnsupportedByStoreException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Where locks live: what each store implements, once, for every primitive.
 *
 * <p>A store keeps names, claims and grants and answers about them. It receives the lease but never a time to renew; it
 * knows no threads, no re-entry, no local waiters. Everything is asynchronous: no method blocks on the store's answer,
 * each starts a request and returns. Every request that got no answer completes exceptionally within the store's own
 * time-out with a {@link dev.holdfast.StoreUnavailableException}, or a {@link dev.holdfast.StoreRefusedException} when
 * the store answered but refused; a claim that waits is the exception: it outlasts a restart of the store, until it is
 * {@linkplain Pending#cancel called off}.
 *
 * <p>The path of a claim:
 *
 * <pre>
 *   engine                                  store
 *     claim(id, name, mode, lease) ──────────►  free, or run out, or mine?  ─ yes ─►  granted(number, sentNanos)
 *                                                        │ no
 *                                               waits? ──┴─ no ─►  refused, nothing left behind
 *                                                 │ yes
 *                                               queue ··· its turn ──────────────►  granted
 *                                                 ··· cancel() ──────────────────►  refused, nothing left behind
 *     renew(grants)  ────────────────────────►  mine and not run out?  ─►  HELD | LOST
 *     extend(grant)  ────────────────────────►  mine, not run out, no waiter?  ─►  Grant(fresh number) | empty
 *     downgrade(grant) ──────────────────────►  mine and not run out?  ─►  readers may come in beside it
 *     release(grant) ────────────────────────►  mine?  ─►  true | false; the next in the queue is up
 *     withdraw(claim) ───────────────────────►  whatever the claim left, wait or grant, is gone
 * </pre>
 *
 * <p>"Mine" always means: the same {@link ClaimId}. Thread-safe.
 */
public interface Store extends AutoCloseable {
    /** The part of a store that answers for all names, or for none. */
    String WHOLE = "";

    /** A short name for messages, without secrets: {@code sqlite:/var/lib/app/locks.db}. */
    String description();

    /** Its capabilities. The same for its whole life. */
    Capabilities capabilities();

    /**
     * Which part of the store keeps a name, where parts fail one by one, such as the nodes of a cluster: an answer about
     * one name then says nothing of the names of other parts. A name may move to another part. Sends no request, and is
     * cheap.
     *
     * @param name as in a claim
     * @return what the store calls that part, for messages too; {@link #WHOLE} where the store is of one piece
     */
    default String part(String name) {
        return WHOLE;
    }

    /** Names the one listener for what the store learns by itself. Called once, before the first claim. */
    void listen(StoreListener listener);

    /**
     * Claims a name, and says in the answer what came of it. Repeated under the same id it succeeds again and resets the lease, so that a lost reply can be
     * requested again; but it never ends a lease earlier, because a repetition may arrive after the lease was made
     * longer.
     *
     * @return with which the claim can be called off while it waits
     */
    Pending claim(Claim claim, Answer answer);

    /**
     * Renews grants for the lease each of them states; the answer has one entry per grant. A grant that has run out, or
     * is another's, is {@link Renewal.Verdict#LOST}, never revived. Where a claim may arrive late, it may have lost its
     * grant and been granted again: then the number is compared as well as the id. A request that was answered is never
     * carried out a second time, which might bring an older and shorter lease back; one that failed may still be.
     */
    CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants);

    /**
     * Gives a grant a fresh, higher number and a fresh lease, provided that it still exists and no other client waits
     * for its name: cheaper than releasing and claiming. Empty when that is not so, and then the grant is unchanged or
     * gone.
     */
    CompletionStage<Optional<Grant>> extend(Grant grant);

    /**
     * Makes an exclusive grant a shared one, which keeps its id, number, lease and place: other readers may come in
     * beside it from now on. Afterwards the engine goes on to name the grant with the mode it was given in; it is known
     * by its id.
     *
     * <p>A store that cannot do this leaves the grant exclusive, as this default does: readers of other clients then
     * wait until it ends.
     *
     * @return false if the grant is unchanged, or is gone
     */
    default CompletionStage<Boolean> downgrade(Grant grant) {
        return CompletableFuture.completedFuture(false);
    }

    /**
     * Ends a grant. Never ends another's. May be repeated: the engine does so while this fails, until the lease has ended;
     * if a session may outlive the lease, until the client is closed.
     *
     * @return true if the server ended it now, or at an earlier repetition; false if it no longer existed, which a store may
     *     answer without a request, for example because the session of the grant broke
     */
    CompletionStage<Boolean> release(Grant grant);

    /**
     * Runs a task, soon and once, just before requests about a name leave: on the thread that sends them if this store
     * gathers requests on one, otherwise at once. The task's requests to the store then leave together.
     *
     * <p>The engine releases a grant this way, so that a caller that closes a hold and requests the lock again in the
     * same instant pays one round trip for both. Never waits for more requests to come.
     */
    default void beforeSending(String name, Runnable task) {
        task.run();
    }

    /**
     * From now on reports to {@link StoreListener#wanted} when another client waits for the name of an exclusive grant, for
     * as long as the grant exists. May be repeated. A store that says {@link Capabilities#wanted()} can do this; its
     * renewals then also report whether others wait, since a message may be lost.
     *
     * @return whether a claim waits already; false also if the grant is gone
     */
    default CompletionStage<Boolean> watch(Grant grant) {
        return CompletableFuture.failedFuture(new UnsupportedByStoreException(description()
                + " does not report when another client waits for '" + grant.name() + "': use another store"));
    }

    /**
     * Removes whatever a claim left behind: its place in the queue, its grant, or nothing. Sent when the claim's
     * outcome is unknown. May be repeated: the engine does so until one is answered that was sent a third of the lease later,
     * because a withdrawal may overtake its claim. Needs no request if the claim was never sent.
     */
    CompletionStage<Void> withdraw(Claim claim);

    /** The state of one name. */
    CompletionStage<LockStatus> status(String name);

    /**
     * The locks that are held or waited for, sorted by name.
     *
     * @param prefix what their names begin with; everything when empty
     */
    CompletionStage<List<LockStatus>> list(String prefix);

    /**
     * The waiters, by name and in the order of their queues. Empty where the store does not keep the waiters' names.
     *
     * @param prefix what the names of their locks begin with; everything when empty
     */
    default CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return CompletableFuture.completedFuture(Optional.empty());
    }

    /**
     * Breaks one grant: its renewals fail from now on. The store compares the number in the same step, so that the grant
     * that follows is never broken in its place, nor another reader or holder of permits beside it. A grant that was
     * broken may be broken again, with {@code now}.
     *
     * @param number the number of the grant, as {@link Grant#number()} or, times 1024, as {@link LockStatus.Held#token()}
     * @param now whether the next grant may come immediately, while the holder may still work; otherwise it comes when
     *     the lease has run out
     * @return false if no grant of that number holds the name; then nothing has changed
     */
    CompletionStage<Boolean> breakGrant(String name, long number, boolean now);

    /**
     * Reads what is recorded of a name, together with the store's clock: as it is, never as a copy that may be older. Makes
     * no table; what a store has to write in order to learn its clock is nothing that others can see.
     *
     * <p>A record is a small value beside a lock: {@link dev.holdfast.Once} keeps there which client ran last, and
     * when. A store that says {@link Capabilities#records()} keeps them.
     */
    default CompletionStage<RecordReading> readRecord(String name) {
        return CompletableFuture.failedFuture(noRecords(name));
    }

    /**
     * Writes a record in one step, provided that the token is not below the recorded one and the revision is the expected
     * one. A record whose time has passed counts as absent.
     *
     * @return the record as it was written, with the store's time; empty if it was refused, and then nothing has changed
     */
    default CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return CompletableFuture.failedFuture(noRecords(write.name()));
    }

    /**
     * The records whose time has not passed, sorted by name. A value that no Holdfast wrote is listed under the token 0, if
     * it is listed.
     *
     * @param prefix what their names begin with; everything when empty
     */
    default CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return CompletableFuture.failedFuture(noRecords(prefix));
    }

    /** For the defaults above. */
    private UnsupportedByStoreException noRecords(String name) {
        return new UnsupportedByStoreException(
                description() + " keeps no records, so none for '" + name + "': use another store");
    }

    /** Ends every request under way and frees what the store holds in this process. Grants are left to their leases. */
    @Override
    void close();
}
