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
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Locks in one Redis server.
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
    /** How often a connection is tried that ends before its greeting. */
    private static final int GREETINGS = 3;

    private final String description;
    private final Capabilities capabilities;
    private final Scripts scripts;
    private final PendingClaims waiters;
    private final Listing listing;
    private final ScriptPipeline pipeline;
    private final RecordScripts records;
    private final Runnable shutDown;
    private final AtomicBoolean closed = new AtomicBoolean();

    private RedisStore(
            String description,
            ServerCheck greeting,
            Scripts scripts,
            PendingClaims waiters,
            Listing listing,
            ScriptPipeline pipeline,
            Runnable shutDown) {
        this.description = description;
        // Not extendable: a release and the claim behind it are one script already, and there is nothing cheaper.
        this.capabilities = Capabilities.least()
                .pushes(true)
                .fair(true)
                .ordered(true)
                .records(true)
                .wanted(true)
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(greeting.caveats());
        this.scripts = scripts;
        this.waiters = waiters;
        this.listing = listing;
        this.pipeline = pipeline;
        this.records = new RecordScripts(pipeline);
        this.shutDown = shutDown;
    }

    /**
     * Connects. A failure leaves nothing behind.
     *
     * @param connector how to open the connection that hears offers
     * @param timeout after this a request is answered with {@link dev.holdfast.StoreUnavailableException}
     * @param poll how often a waiter looks when it hears nothing
     * @param shutDown ends the Lettuce client, if it is ours
     */
    static RedisStore open(
            RedisClient client,
            OfferListener.Connector connector,
            RedisErrors errors,
            TimeSource time,
            Duration timeout,
            Duration poll,
            boolean tls,
            Runnable shutDown) {
        StatefulRedisConnection<byte[], byte[]> connection = null;
        try {
            connection = connect(client);
            ScriptPipeline pipeline = new ScriptPipeline(connection, time, timeout, errors);
            ServerCheck greeting = ServerCheck.exchange(connection, pipeline, errors, timeout.toMillis());
            Scripts scripts = new Scripts(pipeline, errors, time);
            String channel = "holdfast:client:" + ClaimId.random();
            PendingClaims waiters = new PendingClaims(scripts, time, poll, connector, channel);
            pipeline.whenShutDown(waiters::shutDown);
            pipeline.whenReplica(waiters::connectAnew);
            connection.addListener(tellsOf(waiters));
            Listing listing = new Listing(pipeline, scripts);
            return new RedisStore(errors.store(), greeting, scripts, waiters, listing, pipeline, shutDown);
        } catch (RuntimeException e) {
            undo(connection, shutDown);
            throw errors.ofConnecting(e, tls);
        } catch (Error e) {
            undo(connection, shutDown);
            throw e;
        }
    }

    /**
     * Connects, and anew if the connection ended before its greeting: Lettuce closes a connection whose log-in is
     * refused, and about once in a hundred times reports the end of it instead of the refusal, which says what to do.
     */
    private static StatefulRedisConnection<byte[], byte[]> connect(RedisClient client) {
        for (int left = GREETINGS - 1; ; left--) {
            try {
                return client.connect(ByteArrayCodec.INSTANCE);
            } catch (RedisConnectionException e) {
                if (left == 0 || !RedisErrors.endedEarly(e)) {
                    throw e;
                }
            }
        }
    }

    private static RedisConnectionStateListener tellsOf(PendingClaims waiters) {
        return new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> reconnected, SocketAddress address) {
                waiters.connected();
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
                waiters.disconnected();
            }
        };
    }

    private static void undo(@Nullable StatefulRedisConnection<byte[], byte[]> connection, Runnable shutDown) {
        if (connection != null) {
            connection.close();
        }
        shutDown.run();
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
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
        pipeline.beforeSending(task);
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
            pipeline.close(why);
            waiters.closeEar(pipeline.isShutDown());
            pipeline.close();
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
