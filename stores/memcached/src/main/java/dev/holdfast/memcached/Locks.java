package dev.holdfast.memcached;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockStatus;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import net.spy.memcached.MemcachedNode;
import org.jspecify.annotations.Nullable;

/**
 * What is done to the item of one lock. Whoever changes it names its CAS id, as it was read together with the claim that
 * holds: what is another's by then stays as it is.
 *
 * <pre>
 *   acquire   add ┐                    one packet, one round trip
 *             gets│  is it mine, and by which CAS id?
 *             gets┘  the base of the numbers: as the claim has it?  ── no ──►  made or raised, then cas ┐
 *                                                                                                   gets│ as above
 *                                                                                                   gets┘
 *   renew     gets ─ mine? ─►  cas, with a new life
 *   release   gets ─ mine? ─►  cas, with a life that is over
 * </pre>
 *
 * <p>All may be repeated. The server's clock ticks once a second, so that an item of n seconds lives for less, but for more
 * than n - 1: an item lives for the lease in whole seconds, and one more. Thread-safe.
 */
final class Locks {
    /** The longest that the engine allows, a week, is no date yet for Memcached, as 30 days are. */
    static final Duration SHORTEST = Duration.ofSeconds(3);

    private static final int AT_ONCE_OVER = -1;
    private static final String NOTHING = "";
    private static final int MOST_STEPS = 10;

    private final Commands commands;
    private final Numbers numbers;
    private final TimeSource time;
    private final Duration shortest;
    private final Errors errors;

    /**
     * The locks of some servers.
     *
     * @param shortest the least lease that is given
     */
    Locks(Commands commands, Numbers numbers, TimeSource time, Duration shortest, Errors errors) {
        this.shortest = shortest;
        this.commands = commands;
        this.numbers = numbers;
        this.time = time;
        this.errors = errors;
    }

    /** A lock, and the CAS id of its item. */
    private record Found(StoredLock lock, long cas) {}

    /** Empty if another claim holds, or this one was broken. */
    CompletableFuture<Optional<Grant>> acquire(Claim claim) {
        HoldfastException unfit = unfit(claim);
        if (unfit != null) {
            return CompletableFuture.failedFuture(unfit);
        }
        String key = StoredLock.key(claim.name());
        return commands.persistently(() -> write(claim, commands.server(key), key, null, 1));
    }

    private @Nullable HoldfastException unfit(Claim claim) {
        if (!(claim.mode() instanceof Mode.Exclusive)) {
            return new UnsupportedByStoreException(errors.store() + " keeps exclusive locks alone, so '" + claim.name()
                    + "' can be neither shared nor a semaphore here: use another store");
        }
        return claim.lease().compareTo(shortest) >= 0
                ? null
                : errors.refused(
                        "gives leases of 3 s or more, as its clock ticks once a second, so '" + claim.name()
                                + "' can have none of " + claim.lease().toMillis() + " ms: ask for a longer one",
                        null);
    }

    /** Makes the item, or writes the claim's own again. */
    private CompletableFuture<Optional<Grant>> write(
            Claim claim, MemcachedNode server, String key, @Nullable Found own, int step) {
        long sent = time.nanoTime();
        long base = numbers.known(server);
        StoredLock lock = own == null
                ? StoredLock.of(claim, base, time.wallMillis())
                : own.lock.claimedAgain(claim, base, time.wallMillis());
        String value = lock.write();
        CompletableFuture<Boolean> written = own == null
                ? commands.add(server, key, seconds(lock), value)
                : commands.cas(server, key, own.cas, seconds(lock), value);
        CompletableFuture<Commands.@Nullable Item> read = commands.gets(server, key);
        CompletableFuture<Commands.@Nullable Item> counted = commands.gets(server, Numbers.KEY);
        CompletableFuture<?> all = CompletableFuture.allOf(written, read, counted);
        return all.handle((done, failure) -> written.isCompletedExceptionally() ? written : all)
                .thenCompose(each -> each) // what the server says to the write ends the connection of the others
                .thenCompose(done -> {
                    Commands.Item item = read.join();
                    Long baseNow = numbers.learn(server, counted.join());
                    if (item == null) {
                        return next(claim, server, key, null, step);
                    }
                    Found found = found(key, item);
                    if (!found.lock.id().equals(claim.id()) || found.lock.broken()) {
                        return CompletableFuture.completedFuture(Optional.empty());
                    }
                    long number = found.lock.numberAt(item.cas());
                    boolean isThisWrite = written.join() && item.value().equals(value);
                    if (isThisWrite && baseNow != null && baseNow == base && number > claim.floor()) {
                        return CompletableFuture.completedFuture(Optional.of(Grant.of(claim, number, sent)));
                    }
                    return numbers.prepare(server, baseNow, claim.floor())
                            .thenCompose(ready -> next(claim, server, key, found, step));
                });
    }

    private CompletableFuture<Optional<Grant>> next(
            Claim claim, MemcachedNode server, String key, @Nullable Found own, int step) {
        return step < MOST_STEPS
                ? write(claim, server, key, own, step + 1)
                : CompletableFuture.failedFuture(errors.unavailable(
                        "does not keep what it stores: has it memory left, and does its clock go?", null));
    }

    /** Renews a grant that is still held by its number. */
    CompletableFuture<Renewal> renew(Grant grant) {
        String key = StoredLock.key(grant.name());
        MemcachedNode server = commands.server(key);
        return commands.persistently(() -> {
            long asked = time.nanoTime();
            return find(server, key).thenCompose(found -> {
                if (found == null || found.lock.broken() || !found.lock.isOf(grant, found.cas)) {
                    return CompletableFuture.completedFuture(Renewal.lost(asked));
                }
                long sent = time.nanoTime();
                StoredLock renewed = found.lock.renewed(grant, time.wallMillis());
                return commands.cas(server, key, found.cas, seconds(renewed), renewed.write())
                        .thenCompose(done ->
                                done ? CompletableFuture.completedFuture(Renewal.held(sent, false)) : renew(grant));
            });
        });
    }

    /** Deletes whatever a claim has of a name; its id is no other's. */
    CompletableFuture<Boolean> release(String name, ClaimId id) {
        return end(name, found -> found.lock.id().equals(id));
    }

    /** Breaks a grant; unless that is to be now, its item lives for one lease more. */
    CompletableFuture<Boolean> breakGrant(String name, long number, boolean now) {
        Predicate<Found> shown = found -> found.lock.numberAt(found.cas) == number;
        return now ? end(name, shown) : change(name, shown, found -> found.lock.broken(number));
    }

    /** Deletes the item of a lock, if it is meant. */
    private CompletableFuture<Boolean> end(String name, Predicate<Found> meant) {
        return change(name, meant, found -> null);
    }

    /** Writes the item of a lock again, if it is meant, or deletes it for null; whether that was done. */
    private CompletableFuture<Boolean> change(
            String name, Predicate<Found> meant, Function<Found, @Nullable StoredLock> to) {
        String key = StoredLock.key(name);
        MemcachedNode server = commands.server(key);
        boolean[] maybeDone = {false};
        return commands.persistently(() -> find(server, key).thenCompose(found -> {
            if (found == null || !meant.test(found)) {
                return CompletableFuture.completedFuture(maybeDone[0]);
            }
            maybeDone[0] = true; // if the answer is lost, the repetition finds nothing
            StoredLock changed = to.apply(found);
            return (changed == null
                            ? commands.cas(server, key, found.cas, AT_ONCE_OVER, NOTHING)
                            : commands.cas(server, key, found.cas, seconds(changed), changed.write()))
                    .thenCompose(done -> {
                        if (done) {
                            return CompletableFuture.completedFuture(true);
                        }
                        maybeDone[0] = false;
                        return change(name, meant, to);
                    });
        }));
    }

    /** Whether the name of a claim has the item of another, or its own that was broken. */
    CompletableFuture<Boolean> isTaken(Claim claim) {
        String key = StoredLock.key(claim.name());
        MemcachedNode server = commands.server(key);
        return commands.persistently(() -> find(server, key))
                .thenApply(found -> found != null && (!found.lock.id().equals(claim.id()) || found.lock.broken()));
    }

    CompletableFuture<LockStatus> status(String name) {
        String key = StoredLock.key(name);
        return commands.persistently(() -> commands.gets(commands.server(key), key))
                .thenApply(item -> {
                    if (item == null) {
                        return LockStatus.free(name, 0);
                    }
                    StoredLock lock = StoredLock.read(item.value());
                    return lock == null ? LockStatus.unreadable(name) : lock.status(item.cas(), time.wallMillis());
                });
    }

    private CompletableFuture<@Nullable Found> find(MemcachedNode server, String key) {
        return commands.gets(server, key).thenApply(item -> item == null ? null : found(key, item));
    }

    private Found found(String key, Commands.Item item) {
        StoredLock lock = StoredLock.read(item.value());
        if (lock == null) {
            throw errors.foreign(key);
        }
        if (item.cas() == 0) {
            throw errors.refused("gives no CAS ids: start it without its option -C", null);
        }
        return new Found(lock, item.cas());
    }

    private static int seconds(StoredLock lock) {
        return Math.toIntExact(lock.lease().plusMillis(999).toSeconds() + 1);
    }
}
