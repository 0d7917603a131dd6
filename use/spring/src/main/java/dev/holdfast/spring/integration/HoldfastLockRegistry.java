package dev.holdfast.spring.integration;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's locks, kept by a Holdfast client: for aggregators, resequencers and
 * {@code LockRegistryLeaderInitiator}.
 *
 * <pre>{@code
 * LockRegistry<?> registry = new HoldfastLockRegistry(client, "integration");
 * Lock lock = registry.obtain("group-7");
 * lock.lock();
 * try {
 *     groups.release(7);
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>Its locks are owned by threads and re-entrant. Without a time to live they are renewed until they are unlocked;
 * with one they end with it, unless {@link #renewLock} is called. Thread-safe.
 */
public final class HoldfastLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {
    /** With the longest prefix and the longest namespace it is a name. */
    private static final int LONGEST = 180;

    /** As many locks as Spring Integration's own registries keep. */
    private static final int CAPACITY = 100_000;

    private static final Duration IDLE = Duration.ofMinutes(1);
    private static final int SWEEPS_IN_AN_IDLE_TIME = 10;

    private final LockClient client;
    private final String prefix;
    private final HoldOptions options;
    private final int capacity;
    private final Duration idle;
    private final LongSupplier nanoTime;
    private final AtomicLong nextSweep;
    private final Map<String, RegistryLock> locks = new ConcurrentHashMap<>();

    /**
     * Locks of a client, held by the defaults.
     *
     * @param client keeps the locks; stays open
     * @param prefix of their names, followed by a colon and the key; a colon of its own gets a backslash before it
     */
    public HoldfastLockRegistry(LockClient client, String prefix) {
        this(client, prefix, HoldOptions.defaults());
    }

    /** Locks of a client, held as the options say; as {@link #HoldfastLockRegistry(LockClient, String)}. */
    public HoldfastLockRegistry(LockClient client, String prefix, HoldOptions options) {
        this(client, prefix, options, CAPACITY, IDLE, System::nanoTime);
    }

    /** Also with the number of locks from which on those are forgotten that have been idle for a time, by a clock. */
    HoldfastLockRegistry(
            LockClient client, String prefix, HoldOptions options, int capacity, Duration idle, LongSupplier nanoTime) {
        this.client = client;
        this.prefix = prefix.replace("\\", "\\\\").replace(":", "\\:");
        this.capacity = capacity;
        this.idle = idle;
        this.nanoTime = nanoTime;
        this.nextSweep = new AtomicLong(nanoTime.getAsLong());
        this.options = options.reentrant(true).autoRenew(true);
    }

    /**
     * The lock of a key.
     *
     * @param lockKey its text is part of the lock's name; a text that no name can contain is replaced by its hash
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return lock(lockKey);
    }

    /** Forgets locks that nobody holds or waits for and that were last obtained at least that many milliseconds ago. */
    @Override
    public void expireUnusedOlderThan(long age) {
        Duration atLeast = Duration.ofMillis(age);
        // Check and removal are one step, as an obtain is: a lock that a caller has just obtained is not forgotten.
        locks.keySet()
                .forEach(name -> locks.computeIfPresent(name, (same, lock) -> lock.isUnusedFor(atLeast) ? null : lock));
    }

    /**
     * Renews the lock of a key for the lease of this registry; as {@link #renewLock(Object, Duration)}.
     *
     * @throws IllegalStateException if the calling thread does not hold it
     */
    @Override
    public void renewLock(Object lockKey) {
        renewLock(lockKey, options.lease());
    }

    /**
     * Renews the lock of a key for a time from now on. A lock without a time to live is renewed anyway; of such a lock it
     * is only checked that it is still held.
     *
     * @throws IllegalStateException if the calling thread does not hold it
     * @throws java.util.ConcurrentModificationException if it is lost
     */
    @Override
    public void renewLock(Object lockKey, Duration customTtl) {
        lock(lockKey).renew(customTtl);
    }

    /** How many locks it knows. */
    int size() {
        return locks.size();
    }

    private RegistryLock lock(Object lockKey) {
        sweepIfFull();
        return locks.compute(name(lockKey), (name, known) -> {
            RegistryLock lock = known == null ? new RegistryLock(client, name, options, nanoTime) : known;
            lock.obtained();
            return lock;
        });
    }

    /** Keys that are used once, such as those of an aggregator's groups, would fill the memory otherwise. */
    private void sweepIfFull() {
        long now = nanoTime.getAsLong();
        long next = nextSweep.get();
        if (locks.size() >= capacity
                && now - next >= 0
                && nextSweep.compareAndSet(next, now + idle.toNanos() / SWEEPS_IN_AN_IDLE_TIME)) {
            expireUnusedOlderThan(idle.toMillis());
        }
    }

    private String name(Object lockKey) {
        String key = lockKey.toString();
        boolean usable = !key.isEmpty()
                && key.length() <= LONGEST - prefix.length()
                && key.codePoints()
                        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
        return usable
                ? prefix + ":" + key
                : prefix + "#" + UUID.nameUUIDFromBytes(key.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
}
