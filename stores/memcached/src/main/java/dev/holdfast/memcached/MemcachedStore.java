package dev.holdfast.memcached;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.RenewalChunks;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import net.spy.memcached.MemcachedConnection;

/**
 * Locks in Memcached: an item for each lock that is held, with the claim that holds it. {@link Locks} says what is done to
 * it, {@link Numbers} where the numbers of the grants come from, and {@link PendingClaims} how a claim waits. Thread-safe.
 */
final class MemcachedStore implements Store {
    private static final Capabilities CAPABILITIES = Capabilities.least()
            .modes(Set.of(LockMode.EXCLUSIVE))
            .countsWaiters(false)
            .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
            .caveats(
                    "Memcached is a cache: it may evict a lock when memory is short, and forgets all locks when it is"
                            + " restarted or flushed. A holder notices at its next renewal; until then another may hold"
                            + " the lock too.",
                    "A server that was suspended, or whose machine was, may end locks too early just after it goes on. A"
                            + " holder notices at its next renewal.",
                    "Leases are of 3 s or more. A lock whose holder died is free up to two seconds after its lease.",
                    "Memcached tells no time: 'held for' and 'lease left' go by the clocks of the clients.",
                    "With several servers, each lock is kept by one of them: all clients must name the same servers in"
                            + " the same order.");

    private final AtomicBoolean closed = new AtomicBoolean();
    private final LateListener listener = new LateListener();
    private final Errors errors;
    private final Commands commands;
    private final Locks locks;
    private final PendingClaims pending;
    private final Listing listing;
    private final Runnable shutDown;

    /**
     * A store on servers that were greeted.
     *
     * @param limit how long a command may go without an answer
     * @param shortest the least lease that is given
     * @param shutDown its last step when it is closed
     */
    MemcachedStore(
            MemcachedConnection connection,
            TimeSource time,
            Duration limit,
            Duration shortest,
            Errors errors,
            Runnable shutDown) {
        this.errors = errors;
        this.commands = new Commands(connection, time, limit, errors);
        Numbers numbers = new Numbers(commands, time, errors);
        this.locks = new Locks(commands, numbers, time, shortest, errors);
        this.pending = new PendingClaims(locks, time, listener);
        this.listing = new Listing(commands, time, limit, errors);
        this.shutDown = shutDown;
        numbers.readAll();
    }

    @Override
    public String description() {
        return errors.store();
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public String part(String name) {
        return commands.servers().size() == 1
                ? WHOLE
                : commands.server(StoredLock.key(name)).getSocketAddress().toString();
    }

    @Override
    public void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        return pending.claim(claim, answer);
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return open(() -> RenewalChunks.renew(
                grants,
                1,
                one -> locks.renew(one.get(0))
                        .thenApply(renewal -> Map.of(one.get(0).id(), renewal))));
    }

    /** Never: it cannot know that no other client waits. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return open(() -> CompletableFuture.completedFuture(Optional.empty()));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return open(() -> locks.release(grant.name(), grant.id()));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        pending.forget(claim.id());
        return open(() -> locks.release(claim.name(), claim.id()).thenAccept(done -> {}));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return open(() -> locks.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return open(() -> listing.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return open(() -> locks.breakGrant(name, number, now));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            HoldfastException why = errors.closed();
            pending.endAll(why);
            commands.endAll(why);
            shutDown.run();
        }
    }

    private <T> CompletionStage<T> open(Supplier<CompletionStage<T>> request) {
        return closed.get() ? CompletableFuture.failedFuture(errors.closed()) : request.get();
    }
}
