package dev.holdfast.redis;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Locks in Redis: in one server, or in a cluster.
 *
 * <p>The path of a claim, on the wire:
 *
 * <pre>
 *   free lock       acquire   claim ────────────► GET TIME SET           ─► +NUMBER      the only round trip awaited
 *                   close     release ──────────► GET PTTL SET           ─► 1            not awaited; with the next
 *                                                                                        claim of the lock one script
 *   held, no wait             claim ────────────► GET PTTL               ─► -
 *   held, waits               claim, place ─────► GET PTTL TIME ZADD …   ─► -LEFT WAITING PLACE
 *   hand-over       A closes  release ──────────► GET PTTL ZPOPMIN TIME PUBLISH SET
 *                   B hears   ◄── the id of its claim, on its own channel
 *                   B         claim ────────────► GET PTTL TIME SET      ─► +NUMBER      B's lease counts from its sending
 * </pre>
 *
 * <p>So a hand-over between clients is two scripts and one message, however many wait: the release makes the first in
 * the queue the holder for a second, an offer, and tells it; its claim, repeated under the same id, confirms and begins
 * the lease. If it does not, the offer runs out, and the next look of any waiter passes the lock on. The idea is that of
 * the queue of waiters in {@link java.util.concurrent.locks.AbstractQueuedSynchronizer}, with deadlines instead of trust.
 *
 * <p>What is stored, and how, is told in {@code state.lua}; how calls become packets, in {@link ScriptPipeline}; how a claim waits,
 * in {@link PendingClaim}. Thread-safe.
 */
final class RedisStore implements Store {
    /** What the names of clients' channels begin with. */
    static final String CHANNELS = "holdfast:client:";

    private final String description;
    private final Capabilities capabilities;
    private final Scripts scripts;
    private final PendingClaims waiters;
    private final Listing listing;
    private final ScriptSender sender;
    private final RecordScripts records;
    private final Runnable shutDown;
    private final AtomicBoolean closed = new AtomicBoolean();

    private RedisStore(
            String description,
            ServerCheck greeting,
            ScriptSender sender,
            Scripts scripts,
            PendingClaims waiters,
            Runnable shutDown) {
        this.description = description;
        // Not extendable: a release and the claim behind it are one script already, and there is nothing cheaper.
        this.capabilities = Capabilities.least()
                .pushes(true)
                .fair(true)
                .ordered(sender.isOrdered())
                .records(true)
                .wanted(true)
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(greeting.caveats());
        this.sender = sender;
        this.scripts = scripts;
        this.waiters = waiters;
        this.listing = new Listing(sender, scripts);
        this.records = new RecordScripts(sender);
        this.shutDown = shutDown;
    }

    /**
     * The store whose scripts go this way.
     *
     * @param hearing makes what tells a listener of offers
     * @param shutDown ends the Lettuce client, if it is ours
     */
    static RedisStore on(
            ScriptSender sender,
            RedisErrors errors,
            Settings settings,
            ServerCheck greeting,
            Function<OfferListener.Listener, Offers> hearing,
            Runnable shutDown) {
        Scripts scripts = new Scripts(sender, errors, settings.time());
        PendingClaims waiters = new PendingClaims(scripts, settings.time(), settings.poll(), hearing);
        return new RedisStore(errors.store(), greeting, sender, scripts, waiters, shutDown);
    }

    /** The claims of this client that wait. */
    PendingClaims waiters() {
        return waiters;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public String part(String name) {
        return sender.part(name);
    }

    /** Of grants a key learns nothing by itself: what became of one is known when it is renewed. */
    @Override
    public void listen(StoreListener listener) {
        waiters.tell(listener);
    }

    @Override
    public Pending claim(Claim claim) {
        if (claim.names().size() > capabilities.maxNames()) {
            return new Answered(CompletableFuture.failedFuture(new UnsupportedByStoreException("cannot claim '"
                    + claim.name() + "' together with others on " + description + ": it grants one name at a time")));
        }
        if (!claim.waits()) {
            return new Answered(scripts.attempt(claim).thenApply(ClaimAnswer::grant));
        }
        Pending waiting = waiters.claim(claim);
        if (closed.get()) {
            waiters.failAll(closedException()); // the close may have looked before this claim came
        }
        return waiting;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        List<Grant> all = List.copyOf(grants);
        return scripts.renew(all).thenApply(verdicts -> {
            for (Grant grant : all) {
                Renewal said = verdicts.get(grant.id());
                if (said != null && said.verdict() == Renewal.Verdict.LOST) {
                    waiters.watchNoMore(grant);
                    clearAfter(grant);
                }
            }
            return verdicts;
        });
    }

    /** Never: releasing and claiming anew is one script too, and lets others in. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return closed.get()
                ? CompletableFuture.failedFuture(closedException())
                : CompletableFuture.completedFuture(Optional.empty());
    }

    /** One script, once the subscription stands on which the server tells. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return closed.get() ? CompletableFuture.failedFuture(closedException()) : waiters.watch(grant);
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return scripts.downgrade(grant);
    }

    /**
     * Gives it back. What a late copy of its claim has left or will leave is cleared away: a place in the queue of one
     * that was lost, at once; a grant to nobody, a third of a lease later.
     */
    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        waiters.watchNoMore(grant);
        if (scripts.wasSentTwice(grant.id())) {
            waiters.time().schedule(() -> leave(grant), grant.lease().dividedBy(3));
        }
        return scripts.release(grant, () -> leave(grant));
    }

    /** What a late copy of the claim of a lost grant may have left, and may leave yet: nobody releases that. */
    private void clearAfter(Grant lost) {
        if (scripts.wasSentTwice(lost.id())) {
            leave(lost);
            waiters.time().schedule(() -> leave(lost), lost.lease().dividedBy(3));
        }
    }

    private CompletionStage<Void> leave(Grant grant) {
        return waiters.leave(grant.name(), grant.id(), grant.mode());
    }

    /** On the connection's own thread, which takes all calls that came meanwhile into one packet. */
    @Override
    public void beforeSending(String name, Runnable task) {
        sender.beforeSending(name, task);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return waiters.leave(claim.name(), claim.id(), claim.mode());
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return scripts.status(name);
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return closed.get() ? CompletableFuture.failedFuture(closedException()) : listing.of(prefix);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return scripts.breakGrant(name, number, now);
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return records.read(name);
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return records.write(write);
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return closed.get() ? CompletableFuture.failedFuture(closedException()) : records.list(prefix);
    }

    /** Places in the queue are given up; grants are left to their leases. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            ClientClosedException why = closedException();
            scripts.closing();
            waiters.leaveAll();
            waiters.failAll(why);
            sender.close(why);
            waiters.closeEar(sender.isShutDown());
            sender.close();
            shutDown.run();
        }
    }

    private ClientClosedException closedException() {
        return new ClientClosedException("the client of " + description + " is closed; connect again");
    }

    /** A claim that is answered at once; there is nothing to cancel. */
    private record Answered(CompletionStage<Optional<Grant>> answer) implements Pending {
        @Override
        public void cancel() {}
    }
}
