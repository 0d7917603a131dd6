package dev.holdfast.redis;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
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
 *   free lock       acquire   claim ────────────► GET TIME GET SET SET   ─► NUMBER       the only round trip awaited
 *                   close     release ──────────► GET DEL                ─► 1            not awaited; with the next
 *                                                                                        claim of the lock one script
 *   held, no wait             claim ────────────► GET                    ─► -
 *   held, waits               claim, place ─────► GET PTTL ZSCORE ZCOUNT ZADD …   ─► -LEFT WAITING PLACE
 *   hand-over       A closes  release ──────────► GET PTTL ZRANGE TIME GET PUBLISH ZREM SET SET
 *                   B gets    ◄── the id of its claim, on its own channel
 *                   B         claim ────────────► GET PTTL SET           ─► NUMBER       B's lease counts from its sending
 * </pre>
 *
 * <p>So a hand-over between clients is two scripts and one message, however many wait. The release makes the first
 * waiter the holder for a second, an offer, and notifies it. Its claim, repeated under the same id, confirms and begins
 * the lease. If it does not, the offer expires, and the next poll of any waiter passes the lock on. The idea is that of
 * the queue of waiters in {@link java.util.concurrent.locks.AbstractQueuedSynchronizer}, with deadlines instead of
 * trust.
 *
 * <p>{@code state.lua} describes what is stored; {@link ScriptPipeline}, how calls become packets;
 * {@link PendingClaim}, how a claim waits. Thread-safe.
 */
final class RedisStore implements Store {
    /** The beginning of the names of clients' channels. */
    static final String CHANNELS = "holdfast:client:";

    /** Digits of a channel's name behind that: it is written with each place in a queue. */
    private static final int CHANNEL_DIGITS = 12;

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
        // Not extendable: a release and the claim behind it are one script already, and nothing is cheaper.
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
     * @param subscriptions makes the subscriptions that report offers to a listener
     * @param shutDown ends the Lettuce client, if it is ours
     */
    static RedisStore on(
            ScriptSender sender,
            RedisErrors errors,
            Settings settings,
            ServerCheck greeting,
            Function<OfferListener.Listener, Offers> subscriptions,
            Runnable shutDown) {
        Scripts scripts = new Scripts(sender, errors, settings.time());
        PendingClaims waiters = new PendingClaims(scripts, settings.time(), settings.poll(), subscriptions);
        return new RedisStore(errors.store(), greeting, sender, scripts, waiters, shutDown);
    }

    /** A channel of a client's own, as the queue names it. */
    static String newChannel() {
        return ClaimId.random().value().substring(0, CHANNEL_DIGITS);
    }

    /** The waiting claims of this client. */
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

    /** The server does not report the end of a grant by itself: the store learns of it at the next renewal. */
    @Override
    public void listen(StoreListener listener) {
        waiters.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        if (!claim.waits()) {
            scripts.attempt(claim, answer);
            return Pending.BRIEFLY;
        }
        Pending waiting = waiters.claim(claim, answer);
        if (closed.get()) {
            waiters.failAll(closedException()); // the close may have come before this claim was added
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
                    waiters.unwatch(grant);
                    clearAfter(grant);
                }
            }
            return verdicts;
        });
    }

    /** Never: to release and claim again is one script too, and admits other clients. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return closed.get()
                ? CompletableFuture.failedFuture(closedException())
                : CompletableFuture.completedFuture(Optional.empty());
    }

    /** One script, once the client is subscribed to the channel on which the server notifies it. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return closed.get() ? CompletableFuture.failedFuture(closedException()) : waiters.watch(grant);
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return scripts.downgrade(grant);
    }

    /**
     * Releases it. A late copy of its claim may leave something, which is cleared away: a place in the queue of a lost
     * grant, at once; a grant without a holder, a third of a lease later.
     */
    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        waiters.unwatch(grant);
        boolean twice = scripts.wasSentTwice(grant.id());
        if (twice) {
            waiters.time.schedule(() -> leave(grant), grant.lease().dividedBy(3));
        }
        return scripts.release(grant, twice, () -> leave(grant));
    }

    /**
     * Clears away what a late copy of the claim of a lost grant may have left, or may still leave: no holder releases
     * it.
     */
    private void clearAfter(Grant lost) {
        if (scripts.wasSentTwice(lost.id())) {
            leave(lost);
            waiters.time.schedule(() -> leave(lost), lost.lease().dividedBy(3));
        }
    }

    private CompletionStage<Void> leave(Grant grant) {
        return waiters.leave(grant.name(), grant.id(), grant.mode());
    }

    /** On the connection's own thread, which takes all calls made meanwhile into one packet. */
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
            try {
                waiters.closeSubscriptions(sender.isShutDown());
                sender.close();
            } finally {
                shutDown.run();
            }
        }
    }

    private ClientClosedException closedException() {
        return new ClientClosedException("the client of " + description + " is closed; connect again");
    }
}
