package dev.holdfast.spring.integration;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ConcurrentModificationException;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.function.LongSupplier;
import org.springframework.integration.support.locks.DistributedLock;

/** One lock of a registry. A thread that holds it enters the same hold again, once for each {@code lock()}. */
final class RegistryLock implements DistributedLock {
    private final LockClient client;
    private final String name;
    private final HoldOptions options;
    private final LongSupplier nanoTime;
    private final Map<Thread, Owned> owners = new ConcurrentHashMap<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile long obtainedNanos;

    RegistryLock(LockClient client, String name, HoldOptions options, LongSupplier nanoTime) {
        this.client = client;
        this.name = name;
        this.options = options;
        this.nanoTime = nanoTime;
    }

    void obtained() {
        obtainedNanos = nanoTime.getAsLong();
    }

    /**
     * Waits are read before owners: an owner is noted before its wait ends, so that one of the two shows it. A thread that has
     * ended owns nothing any more.
     */
    boolean isUnusedFor(Duration age) {
        return nanoTime.getAsLong() - obtainedNanos >= age.toNanos()
                && waiting.get() == 0
                && owners.keySet().stream().noneMatch(Thread::isAlive);
    }

    @Override
    public void lock() {
        lockUninterruptibly(options);
    }

    @Override
    public void lock(Duration ttl) {
        lockUninterruptibly(forA(ttl));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquire(options);
    }

    @Override
    public boolean tryLock() {
        waiting.incrementAndGet();
        try {
            return keep(client.lock(name, options).tryAcquire(), options);
        } finally {
            waiting.decrementAndGet();
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Duration.ofNanos(Math.max(0, unit.toNanos(time))), options);
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration customTtl) throws InterruptedException {
        return tryLock(waitTime.isNegative() ? Duration.ZERO : waitTime, forA(customTtl));
    }

    private boolean tryLock(Duration wait, HoldOptions how) throws InterruptedException {
        waiting.incrementAndGet();
        try {
            return keep(client.lock(name, how).tryAcquire(wait), how);
        } finally {
            waiting.decrementAndGet();
        }
    }

    /**
     * Unlocks once.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold it
     * @throws ConcurrentModificationException if the lock was lost meanwhile, as with Spring Integration's registry on Redis
     */
    @Override
    public void unlock() {
        Thread thread = Thread.currentThread();
        Owned owned = owners.get(thread);
        if (owned == null) {
            throw new IllegalMonitorStateException("the thread does not hold the lock '" + name + "'");
        }
        Hold last = owned.entries.pop();
        if (owned.entries.isEmpty()) {
            owners.remove(thread);
        }
        try {
            last.close();
        } catch (HoldLostException lost) {
            throw changed(lost);
        }
    }

    void renew(Duration lease) {
        Owned owned = owners.get(Thread.currentThread());
        if (owned == null) {
            throw new IllegalStateException("the thread does not hold the lock '" + name + "', so it cannot renew it");
        }
        Hold hold = owned.entries.getLast();
        try {
            if (owned.timed) {
                hold.extend(lease);
            } else if (!hold.isValid()) {
                throw new ConcurrentModificationException("the lock '" + name + "' is not surely held any more");
            }
        } catch (HoldLostException lost) {
            throw changed(lost);
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a lock that several processes share has no conditions");
    }

    private void lockUninterruptibly(HoldOptions how) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    acquire(how);
                    return;
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** In the registry's eyes somebody waits until an owner is noted, so that it never forgets a lock that is held. */
    private void acquire(HoldOptions how) throws InterruptedException {
        waiting.incrementAndGet();
        try {
            keep(Optional.of(client.lock(name, how).acquire()), how);
        } finally {
            waiting.decrementAndGet();
        }
    }

    private boolean keep(Optional<Hold> acquired, HoldOptions how) {
        acquired.ifPresent(hold -> owners.computeIfAbsent(
                        Thread.currentThread(), first -> new Owned(new ArrayDeque<>(), !how.autoRenew()))
                .entries
                .push(hold));
        return acquired.isPresent();
    }

    private HoldOptions forA(Duration ttl) {
        return options.lease(ttl).autoRenew(false);
    }

    private static ConcurrentModificationException changed(HoldLostException lost) {
        ConcurrentModificationException changed = new ConcurrentModificationException(lost.getMessage());
        changed.initCause(lost);
        return changed;
    }

    /**
     * What one thread holds.
     *
     * @param entries one for each {@code lock()}, the last one first
     * @param timed whether the first one had a time to live
     */
    private record Owned(Deque<Hold> entries, boolean timed) {}
}
