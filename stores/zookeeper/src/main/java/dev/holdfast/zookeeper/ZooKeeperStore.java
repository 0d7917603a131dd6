package dev.holdfast.zookeeper;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks in ZooKeeper.
 *
 * <p>A lock is a node, a claim an ephemeral sequential node under it; the first in the queue holds. On the wire:
 *
 * <pre>
 *   free lock       acquire   create, children ─────► made; alone             the only round trip awaited
 *                   close     delete ───────────────► done                    not awaited
 *   held, no wait             sync, children ───────► taken                   nothing written
 *   held, waits               create, children ─────► made; behind X
 *                             read X, watched ──────► there
 *   hand-over       A closes  delete X                                        with its next claim, if it has one
 *                   B gets    ◄───────────────────── X is gone                one event, to B alone
 *                   B         exists own, children ─► there; alone            the list only where X was not the only one
 *   renewal                   check ────────────────► agreed by a majority    one check for many grants
 *                             children, watched ────► no claim waits          again only after a change
 * </pre>
 *
 * <p>{@link PendingClaim} describes how a claim waits, {@link Predecessors} which claims it waits for, and {@link SessionProof} how long a
 * session is surely alive. Thread-safe.
 */
final class ZooKeeperStore implements Store {
    /* Not extendable: a grant's number is that of its node's making; a higher one would be made behind the waiters. */
    private static final Capabilities CAPABILITIES = Capabilities.least()
            .sessionBound(true)
            .pushes(true)
            .fair(true)
            .ordered(true)
            .records(true)
            .wanted(true)
            .caveats(
                    "A writer that continues as a reader excludes readers of other clients until it is closed.",
                    "After a client died, its locks are free after the time-out of the session, whatever lease the options set.",
                    "'Held for' counts from when the holder joined the queue, by the asking client's clock.");

    private final ZooKeeperContext context;
    private final PendingClaims places;
    private final Renewals renewals;
    private final Listing listing;
    private final GrantBreaker breaking;
    private final WaiterWatches waiters;
    private final RecordNodes records;
    private final Runnable shutDown;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Why no more requests are sent to the servers; null while they are sent. */
    private final AtomicReference<@Nullable HoldfastException> end = new AtomicReference<>();

    ZooKeeperStore(ZooKeeperContext context, PendingClaims places, Runnable shutDown) {
        this.context = context;
        this.places = places;
        this.renewals = new Renewals(context);
        this.listing = new Listing(context);
        this.breaking = new GrantBreaker(context);
        this.waiters = new WaiterWatches(context);
        this.records = new RecordNodes(context);
        this.shutDown = shutDown;
        context.connection().ownerClosed().thenRun(() -> end(context.errors().closedByOwner()));
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
        context.heldNodes().listen(listener);
        places.listen(listener);
        waiters.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        HoldfastException ended = end.get();
        if (ended != null) {
            answer.failed(ended);
            return Pending.BRIEFLY;
        }
        Pending pending = places.claim(claim, answer);
        ended = end.get();
        if (ended != null) {
            places.failAll(ended); // the end may have been handled before this claim came
        }
        return pending;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return asked(() -> renewals.renew(grants));
    }

    /** Never: the number is that of the node, and the waiters have later ones. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return limited(() -> CompletableFuture.completedFuture(Optional.empty()));
    }

    /** One read, and one more for each claim that comes or goes until one waits. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return limited(() -> waiters.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return limited(() -> {
            HeldNode heldNode = context.heldNodes().remove(grant.id());
            return heldNode == null
                    ? context.deleter().removeClaim(grant.name(), grant.id())
                    : context.deleter().remember(grant.id(), context.batches().remove(heldNode));
        });
    }

    /**
     * The client library sends on a thread of its own, which runs no task of ours. So the task runs on the timer's thread
     * where callers return at once, and here otherwise. Its release and claim leave as one write.
     */
    @Override
    public void beforeSending(String name, Runnable task) {
        if (end.get() != null) {
            task.run();
        } else {
            context.batches().run(task);
        }
    }

    /** A claim that was not sent leaves nothing: one that is tried while the servers are away is not withdrawn later. */
    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return limited(() -> {
                    boolean entered = places.withdraw(claim.id());
                    boolean granted = context.heldNodes().remove(claim.id()) != null;
                    boolean sent = entered || granted || context.deleter().isUnderWay(claim.id());
                    return sent
                            ? context.deleter().removeClaim(claim.name(), claim.id())
                            : context.deleter().removeClaimOnce(claim.name(), claim.id());
                })
                .thenAccept(found -> {});
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return limited(() -> listing.status(name));
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return asked(() -> listing.waiters(prefix)).thenApply(Optional::of);
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return asked(() -> listing.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return asked(() -> breaking.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return limited(() -> records.read(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return limited(() -> records.write(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return asked(() -> records.list(prefix));
    }

    /** An answer that no caller needs once it is late. A removal goes on without it, until the servers have answered. */
    private <T> CompletionStage<T> limited(Supplier<CompletableFuture<T>> request) {
        return asked(() -> {
            CompletableFuture<T> answer = request.get();
            context.timeouts().end(answer);
            return answer;
        });
    }

    private <T> CompletionStage<T> asked(Supplier<CompletableFuture<T>> request) {
        HoldfastException ended = end.get();
        if (ended != null) {
            return CompletableFuture.failedFuture(ended);
        }
        CompletableFuture<T> answer = request.get();
        ended = end.get();
        if (ended != null) {
            answer.completeExceptionally(ended);
        }
        return answer;
    }

    /** The session ends, if it is ours, and with it all grants; otherwise the nodes are deleted. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            end(closedException());
            context.connection().close();
            shutDown.run();
        }
    }

    private void end(HoldfastException why) {
        if (end.compareAndSet(null, why)) {
            places.failAll(why);
            context.timeouts().failAll(why);
        }
    }

    private HoldfastException closedException() {
        return new ClientClosedException("the client of " + description() + " is closed; connect again");
    }
}
