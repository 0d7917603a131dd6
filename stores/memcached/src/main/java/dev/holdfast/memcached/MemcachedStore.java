package dev.holdfast.memcached;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.memcached.Commands.Item;
import dev.holdfast.memcached.Commands.Place;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.RenewalChunks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import net.spy.memcached.MemcachedConnection;
import net.spy.memcached.MemcachedNode;
import org.jspecify.annotations.Nullable;

/**
 * Locks in Memcached: each lock that is held has an item, whose value is the claim that holds it ({@link StoredLock}).
 *
 * <pre>
 *   acquire   add ┐  one packet, one round trip
 *             gets┘  mine, and by which CAS id? the base of the numbers as the claim wrote it?
 *                    the base is another ──►  made, raised or read, then cas and gets as above
 *   renew     gets ─ mine? ─►  cas, with a new life
 *   release   gets ─ mine? ─►  cas, with a life that is over
 * </pre>
 *
 * <p><b>Identity.</b> {@code add} takes a free lock in one step of the server. A change names the CAS id with which the item
 * was read, together with the claim in it: if another claim holds the lock by then, the server refuses the change. So each
 * request may be repeated when its answer is lost.
 *
 * <p><b>Lease.</b> The lease is the life of the item, in whole seconds. The server counts time by a clock that ticks about
 * once a second, each tick a little later than the one before, so that every quarter of an hour or so the clock skips a
 * second. An item of n seconds therefore lives for more than n - 2 seconds. It gets the lease, rounded up, and two seconds
 * more: a deadline counted from before its request was sent ends first.
 *
 * <p><b>Number.</b> The server gives each write a higher CAS id than the one before; after a restart it begins at 1. The
 * number of a grant is the CAS id of the write that took the lock, plus the base: one item for all locks of a server. The
 * base is made so that numbers begin at the microseconds of the clock. If it is gone, by an eviction or a restart, it is made
 * again, and the clock has gone on by more than there were writes. If a number would not be above what the client has seen,
 * the base is raised. A claim counts only if the base has not changed since the claim was written.
 *
 * <p><b>Waiting.</b> {@link PolledClaim}: there is no queue, and no message. Thread-safe.
 */
final class MemcachedStore implements Store {
    static final Duration SHORTEST_LEASE = Duration.ofSeconds(3);

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
                    "Leases are of 3 s or more. A lock whose holder died is free up to three seconds after its lease.",
                    "Memcached tells no time: 'held for' and 'lease left' go by the clocks of the clients.",
                    "With several servers, each lock is kept by one of them: all clients must name the same servers in"
                            + " the same order.");
    private static final int SECONDS_OF_THE_CLOCK = 2;
    private static final int AT_ONCE_OVER = -1;
    private static final int MOST_WRITES = 10;
    private static final int LISTED_AT_ONCE = 1_000;

    private final Map<MemcachedNode, Long> bases = new ConcurrentHashMap<>(); // as they were read last
    private final Map<ClaimId, PolledClaim> pending = new ConcurrentHashMap<>();
    final LateListener listener = new LateListener();
    final TimeSource time;
    private final Commands commands;
    private final Duration limit;
    private final Duration shortestLease;
    private final Errors errors;
    private final Runnable shutDown;

    /**
     * A store on servers that were greeted.
     *
     * @param limit how long a command may go without an answer
     * @param shutDown its last step when it is closed
     */
    MemcachedStore(
            MemcachedConnection connection,
            TimeSource time,
            Duration limit,
            Duration shortestLease,
            Errors errors,
            Runnable shutDown) {
        this.commands = new Commands(connection, time, limit, errors);
        this.time = time;
        this.limit = limit;
        this.shortestLease = shortestLease;
        this.errors = errors;
        this.shutDown = shutDown;
        for (MemcachedNode server : commands.servers()) { // without its base, the first claim takes a second round trip
            commands.gets(Place.ofBase(server)).thenAccept(item -> base(server, item));
        }
    }

    /** A lock, and the CAS id of its item. */
    private record Found(StoredLock lock, long cas) {
        long number() {
            return lock.numberAt(cas);
        }
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        return pending.compute(claim.id(), (id, before) -> new PolledClaim(this, claim, answer, before))
                .ask();
    }

    /** Asks once for a name, and reports each attempt; empty if another claim holds it, or this one was broken. */
    CompletableFuture<Optional<Grant>> acquire(Claim claim, BiConsumer<Object, @Nullable Throwable> attempted) {
        if (!(claim.mode() instanceof Mode.Exclusive)) {
            return CompletableFuture.failedFuture(
                    new UnsupportedByStoreException(errors.store() + " keeps exclusive locks alone, so '" + claim.name()
                            + "' can be neither shared nor a semaphore here: use another store"));
        }
        if (claim.lease().compareTo(shortestLease) < 0) {
            return CompletableFuture.failedFuture(errors.refused(
                    "gives leases of 3 s or more, as its clock ticks once a second, so '" + claim.name()
                            + "' cannot have one of " + claim.lease().toMillis() + " ms: ask for a longer one",
                    null));
        }
        Place place = commands.place(StoredLock.key(claim.name()));
        return commands.persistently(() -> write(claim, place, null, 1).whenComplete(attempted));
    }

    /** Makes the item of a claim, or writes it again, until its number counts. */
    private CompletableFuture<Optional<Grant>> write(Claim claim, Place place, @Nullable Found own, int times) {
        if (times > MOST_WRITES) {
            return CompletableFuture.failedFuture(errors.unavailable(
                    "does not keep what it stores: has it memory left, and does its clock go?", null));
        }
        long sent = time.nanoTime();
        long base = bases.getOrDefault(place.server(), 0L);
        String value = StoredLock.of(claim, base, time.wallMillis()).write();
        CompletableFuture<Boolean> written = own == null
                ? commands.add(place, life(claim.lease()), value)
                : commands.cas(place, own.cas, life(claim.lease()), value);
        CompletableFuture<Map<String, Item>> read = commands.getsWithBase(place);
        return written.thenCompose(stored -> read.thenCompose(items -> {
            Item item = items.get(place.key());
            Found found = found(place, item);
            Long baseNow = base(place.server(), items.get(Place.BASE));
            if (found == null) {
                return write(claim, place, null, times + 1);
            }
            if (!found.lock.isOf(claim.id())) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            boolean counts = baseNow != null && baseNow == base && found.number() > claim.floor();
            return counts && stored && item != null && item.value().equals(value)
                    ? CompletableFuture.completedFuture(Optional.of(Grant.of(claim, found.number(), sent)))
                    : prepareBase(place, items.get(Place.BASE), found.cas, claim.floor())
                            .thenCompose(ready -> write(claim, place, found, times + 1));
        }));
    }

    /**
     * Makes or raises the base where that is needed, so that the next write has a number above the floor. If many claims do
     * so at once, one of them does, and the others read what it wrote.
     */
    private CompletableFuture<?> prepareBase(Place place, @Nullable Item read, long cas, long floor) {
        Long base = base(place.server(), read);
        Place item = Place.ofBase(place.server());
        long first = Math.max(Math.max(time.wallMillis() * 1_000, floor) - cas, bases.getOrDefault(place.server(), 0L));
        CompletableFuture<Boolean> written = read == null || base == null
                ? commands.add(item, 0, Long.toString(first))
                : base + cas < floor
                        ? commands.cas(item, read.cas(), 0, Long.toString(floor - cas))
                        : CompletableFuture.completedFuture(true);
        return written.thenCompose(done -> commands.gets(item)).thenAccept(now -> base(place.server(), now));
    }

    /** The base that was read, or null if it is gone. */
    private @Nullable Long base(MemcachedNode server, @Nullable Item item) {
        if (item == null) {
            return null;
        }
        try {
            Long base = Long.valueOf(item.value().strip());
            bases.put(server, base);
            return base;
        } catch (NumberFormatException foreign) {
            throw errors.foreign(Place.BASE);
        }
    }

    /** Whether another claim holds the name, or this one was broken. */
    CompletableFuture<Boolean> isTaken(Claim claim) {
        Place place = commands.place(StoredLock.key(claim.name()));
        return commands.persistently(() -> commands.gets(place)).thenApply(item -> {
            Found found = found(place, item);
            return found != null && !found.lock.isOf(claim.id());
        });
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return RenewalChunks.renew(
                grants,
                1,
                one -> renew(one.get(0)).thenApply(renewal -> Map.of(one.get(0).id(), renewal)));
    }

    private CompletableFuture<Renewal> renew(Grant grant) {
        long[] sent = {time.nanoTime()};
        return change(grant.name(), found -> found.lock.isOf(grant.id()) && found.number() == grant.number(), found -> {
                    sent[0] = time.nanoTime();
                    return found.lock.renewed(grant, time.wallMillis());
                })
                .thenApply(done -> done ? Renewal.held(sent[0], false) : Renewal.lost(sent[0]));
    }

    /** Never: it cannot know that no other client waits. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return commands.open().thenApply(open -> Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return release(grant.name(), grant.id());
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        PolledClaim polled = pending.get(claim.id());
        CompletableFuture<?> answered = polled == null ? CompletableFuture.completedFuture(null) : polled.end();
        return answered.thenCompose(ended -> release(claim.name(), claim.id())).thenAccept(done -> {});
    }

    HoldfastException broken(Throwable why) {
        return errors.broken(why);
    }

    /** A claim has its answer. */
    void forget(ClaimId id, PolledClaim polled) {
        pending.remove(id, polled);
    }

    /** Deletes whatever a claim has of a name. */
    CompletableFuture<Boolean> release(String name, ClaimId id) {
        return change(name, found -> found.lock.id().equals(id), found -> null);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return change(name, found -> found.number() == number, found -> {
            if (now) {
                return null;
            }
            return found.lock.broken() ? found.lock : found.lock.broken(number);
        });
    }

    /** Writes the item of a lock again if it is meant and changed, or deletes it for null; whether it is so now. */
    private CompletableFuture<Boolean> change(
            String name, Predicate<Found> meant, Function<Found, @Nullable StoredLock> to) {
        Place place = commands.place(StoredLock.key(name));
        boolean[] maybeDeleted = {false};
        return commands.persistently(() -> commands.gets(place).thenCompose(item -> {
            Found found = found(place, item);
            if (found == null || !meant.test(found)) {
                return CompletableFuture.completedFuture(maybeDeleted[0]);
            }
            StoredLock changed = to.apply(found);
            if (found.lock.equals(changed)) {
                return CompletableFuture.completedFuture(true);
            }
            maybeDeleted[0] = changed == null; // if the answer is lost, the repetition finds nothing
            return (changed == null
                            ? commands.cas(place, found.cas, AT_ONCE_OVER, "")
                            : commands.cas(place, found.cas, life(changed.lease()), changed.write()))
                    .thenCompose(done -> done ? CompletableFuture.completedFuture(true) : change(name, meant, to));
        }));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        Place place = commands.place(StoredLock.key(name));
        return commands.persistently(() -> commands.gets(place)).thenApply(item -> {
            if (item == null) {
                return LockStatus.free(name, 0);
            }
            StoredLock lock = StoredLock.read(item.value());
            return lock == null ? LockStatus.unreadable(name) : lock.status(item.cas(), time.wallMillis());
        });
    }

    /** On a thread of its own, as a server names its keys on a socket only. */
    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        CompletableFuture<List<LockStatus>> answer = new CompletableFuture<>();
        DaemonThreads.daemon("holdfast-memcached-list", () -> {
                    try {
                        List<LockStatus> found = new ArrayList<>();
                        commands.servers().forEach(server -> list(server, found));
                        found.removeIf(lock -> !lock.name().startsWith(prefix));
                        found.sort(Comparator.comparing(LockStatus::name));
                        answer.complete(List.copyOf(found));
                    } catch (Throwable failure) {
                        answer.completeExceptionally(Errors.unwrapped(failure));
                    }
                })
                .start();
        return commands.open().thenCompose(open -> answer);
    }

    private void list(MemcachedNode server, List<LockStatus> found) {
        List<String> keys = SocketRequests.keys(server.getSocketAddress(), StoredLock::isKey, limit, errors);
        for (int from = 0; from < keys.size(); from += LISTED_AT_ONCE) {
            keys.subList(from, Math.min(from + LISTED_AT_ONCE, keys.size())).stream()
                    .map(key -> commands.persistently(() -> commands.gets(new Place(server, key))))
                    .toList()
                    .forEach(answer -> {
                        Item item = answer.join();
                        StoredLock lock = item == null ? null : StoredLock.read(item.value());
                        if (item != null && lock != null) {
                            found.add(lock.status(item.cas(), time.wallMillis()));
                        }
                    });
        }
    }

    private @Nullable Found found(Place place, @Nullable Item item) {
        if (item == null) {
            return null;
        }
        StoredLock lock = StoredLock.read(item.value());
        if (lock == null) {
            throw errors.foreign(place.key());
        }
        if (item.cas() == 0) {
            throw errors.refused("gives no CAS ids: start it without its option -C", null);
        }
        return new Found(lock, item.cas());
    }

    /** In seconds; the longest lease, a week, is no date yet for Memcached, as 30 days are. */
    private static int life(Duration lease) {
        return Math.toIntExact(lease.plusMillis(999).toSeconds()) + SECONDS_OF_THE_CLOCK;
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
                : commands.place(StoredLock.key(name))
                        .server()
                        .getSocketAddress()
                        .toString();
    }

    @Override
    public void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    @Override
    public void close() {
        HoldfastException why =
                new ClientClosedException("the client of " + errors.store() + " is closed; connect again");
        if (commands.endAll(why)) {
            pending.values().forEach(polled -> polled.fail(why));
            shutDown.run();
        }
    }
}
