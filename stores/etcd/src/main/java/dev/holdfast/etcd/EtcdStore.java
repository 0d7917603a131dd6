package dev.holdfast.etcd;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.etcd.HeldClaims.Held;
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
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime;
import io.etcd.jetcd.Client;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Locks in etcd.
 *
 * <p>A lock is the keys that begin with its name, one for each claim, in the order of the revisions that made them; the
 * first holds. On the wire:
 *
 * <pre>
 *   free lock       acquire   txn: put, read the queue ──► made; alone        the only round trip awaited
 *                   close     txn: delete ───────────────► done              not awaited
 *   held, no wait             read the queue ────────────► taken             nothing written
 *   held, waits               txn: put, read the queue ──► made; behind X
 *                             watch X ───────────────────► …
 *   hand-over       A closes  txn: delete X                                  with its next claim, if it has one
 *                   B gets    ◄────────────────────────── X is gone          one event, to B alone
 *                   B         read the queue up to B ────► there; alone
 *   renewal                   keep-alive, read ──────────► proved            once for all grants of a length
 *                             read keys and queues ──────► there; no claim waits
 * </pre>
 *
 * <p>{@link PendingClaim} describes how a claim waits, and {@link Session} how long a lease is surely alive. Thread-safe.
 */
final class EtcdStore implements Store {
    /* Not extendable: a grant's number is the revision that made its key; a higher one would be made behind the waiters. */
    private static final Capabilities CAPABILITIES = Capabilities.least()
            .sessionBound(true)
            .pushes(true)
            .fair(true)
            .ordered(true)
            .records(true)
            .wanted(true)
            .caveats(
                    "A writer that continues as a reader excludes readers of other clients until it is closed.",
                    "Leases are whole seconds, and no shorter than the servers allow: two seconds, unless they were told"
                            + " otherwise.",
                    "etcd tells no time: 'held for', and the periods of work that runs once, go by the clocks of the"
                            + " clients.");

    private final EtcdContext context;
    private final PendingClaims places;
    private final Renewals renewals;
    private final Inspection inspection;
    private final Records records;
    private final Runnable shutDown;
    private final AtomicBoolean closed = new AtomicBoolean();

    private EtcdStore(EtcdContext context, Owner owner, Runnable shutDown) {
        this.context = context;
        this.places = new PendingClaims(context);
        owner.places = places;
        this.renewals = new Renewals(context);
        this.inspection = new Inspection(context);
        this.records = new Records(context);
        this.shutDown = shutDown;
    }

    /**
     * A store that can be used; a failure leaves nothing behind.
     *
     * @param limit how long a request may go without an answer
     * @param shutDown its last step when it is closed
     */
    static EtcdStore open(
            Client client, String prefix, TimeSource time, Duration limit, Errors errors, Runnable shutDown) {
        Requests.makeStubs(client);
        Requests requests = new Requests(client, time, limit, errors);
        Keys keys = new Keys(prefix);
        Releases releases = new Releases(requests, keys);
        ClaimKeys claimKeys = new ClaimKeys(requests, keys, releases);
        HeldClaims held = new HeldClaims(releases, time);
        Owner owner = new Owner(held, claimKeys);
        Sessions sessions = new Sessions(requests, keys, ElapsedTime.of(time), owner);
        EtcdContext context = new EtcdContext(requests, keys, time, errors, claimKeys, releases, held, sessions);
        try {
            Object unused = new Layout(requests, keys, errors).prepare().get();
        } catch (ExecutionException e) {
            shutDown.run();
            throw errors.of(e);
        } catch (InterruptedException e) {
            shutDown.run();
            Thread.currentThread().interrupt();
            throw errors.unavailable("was not waited for: the thread was interrupted", e);
        }
        return new EtcdStore(context, owner, shutDown);
    }

    /** What the sessions of a store need to know of it. */
    private static final class Owner implements Session.Owner {
        private final HeldClaims held;
        private final ClaimKeys claimKeys;
        private volatile @Nullable PendingClaims places;

        Owner(HeldClaims held, ClaimKeys claimKeys) {
            this.held = held;
            this.claimKeys = claimKeys;
        }

        @Override
        public boolean needs(Session session) {
            return held.need(session) || places().need(session);
        }

        @Override
        public void ended(Session session) {
            claimKeys.ended(session);
            held.ended(session);
            places().ended(session);
        }

        @Override
        public void unreachable(HoldfastException why) {
            places().unreachable(why);
        }

        @Override
        public void reachable() {
            places().answered();
        }

        /** Set before the first session is opened. */
        private PendingClaims places() {
            return Objects.requireNonNull(places);
        }
    }

    @Override
    public String description() {
        return context.errors().store();
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public void listen(StoreListener listener) {
        context.held().listen(listener);
        places.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        return places.claim(claim, answer);
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return context.requests().haveEnded() ? closedStage() : renewals.renew(grants);
    }

    /** Never: the number is that of the key, and the waiters have later ones. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return context.requests().haveEnded() ? closedStage() : CompletableFuture.completedFuture(Optional.empty());
    }

    /** One read, and one more for each change until a claim waits. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return renewals.watch(grant);
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return context.releases().release(grant, context.held().remove(grant.id()));
    }

    /**
     * On the timer's thread: the change of threads leaves room for a caller that closes a hold and claims the lock again at
     * once.
     */
    @Override
    public void beforeSending(String name, Runnable task) {
        if (context.requests().haveEnded()) {
            task.run();
        } else {
            context.time().schedule(() -> context.releases().during(task), Duration.ZERO);
        }
    }

    /** A claim that was not sent leaves nothing to remove. */
    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        if (context.requests().haveEnded()) {
            return closedStage();
        }
        places.withdraw(claim.id());
        Held held = context.held().remove(claim.id());
        CompletableFuture<Boolean> ended = held == null
                ? context.releases().repeat(claim.id())
                : context.releases().release(held.grant(), held);
        return ended == null ? context.claimKeys().remove(claim) : ended.thenAccept(removed -> {});
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return inspection.status(name);
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return inspection.waiters(prefix).thenApply(Optional::of);
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return inspection.list(prefix);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return inspection.breakGrant(name, number, now);
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
        return records.list(prefix);
    }

    /** The leases end, and with them all grants. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            HoldfastException why = closedException();
            places.failAll(why);
            context.requests().endAll(why);
            context.sessions().close(context.requests().limit());
            shutDown.run();
        }
    }

    private <T> CompletionStage<T> closedStage() {
        return CompletableFuture.failedFuture(closedException());
    }

    private HoldfastException closedException() {
        return new ClientClosedException("the client of " + description() + " is closed; connect again");
    }
}
