package dev.holdfast.memory;

import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.internal.SystemTime;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * A store in the memory of this process: for tests, for trying things out, and as the plainest example of a store. Any
 * number of clients share it, each through an {@link #open(StoreContext) open} of its own.
 *
 * <pre>{@code
 * MemoryStore memory = new MemoryStore();
 * try (LockClient one = LockClient.builder(memory).build();
 *         LockClient two = LockClient.builder(memory).build()) {
 *     // one and two exclude each other
 * }
 * }</pre>
 *
 * <p>Waiting claims queue up in order of arrival. A release, or the end of a lease while a claim waits, grants the lock
 * to the first of them at once. One counter numbers all grants, so that nothing is kept for a name that no client holds
 * or wants.
 *
 * <p>Thread-safe. Answers complete on the thread that caused them, after the store's own mutex is free.
 */
public final class MemoryStore implements StoreFactory {
    private final TimeSource time;
    private final ReentrantLock mutex = new ReentrantLock();
    private final TreeMap<String, MemoryLock> locks = new TreeMap<>();
    private final MemoryRecords records;
    private long lastNumber;

    /** A store on the system's clock. */
    public MemoryStore() {
        this(new SystemTime("holdfast-memory-timer"));
    }

    /** A store on a given clock. */
    public MemoryStore(TimeSource time) {
        this.time = time;
        this.records = new MemoryRecords(time);
    }

    MemoryRecords records() {
        return records;
    }

    /** Opens it for one client, which uses the clock of its builder; leases use the store's. */
    @Override
    public Store open(StoreContext context) {
        return open(context.time());
    }

    @Override
    public String describe(StoreContext context) {
        return MemorySession.DESCRIPTION;
    }

    /** Opens it for one client, on the store's own clock. */
    public Store open() {
        return open(time);
    }

    /**
     * Opens it for one client.
     *
     * @param clientTime the client's clock, by which grants are stamped; it may differ from the store's
     */
    public Store open(TimeSource clientTime) {
        return new MemorySession(this, clientTime);
    }

    void claim(Claim claim, MemorySession session, Answer answer) {
        change(claim.name(), lock -> {
            MemoryLock.Waiting waiting = new MemoryLock.Waiting(claim, session, answer);
            if (lock.heldBy(claim.id()) != null) {
                lock.queue.addFirst(waiting); // its first answer was lost: it has the lock already
            } else {
                lock.queue.addLast(waiting);
            }
            Runnable granted = settle(lock);
            if (!claim.waits() && lock.dequeue(claim.id()) != null) {
                return both(granted, answer::refused);
            }
            // It is the last, if it still waits.
            List<MemoryLock.Watcher> watchers = lock.queue.peekLast() == waiting ? lock.watchers() : List.of();
            return both(granted, () -> watchers.forEach(MemoryLock.Watcher::wanted));
        });
    }

    /**
     * Notifies a watcher of a grant's events from now on, while the grant exists; returns whether a claim waits
     * already.
     */
    boolean watch(Grant grant, MemoryLock.Watcher watcher) {
        boolean[] waits = new boolean[1];
        change(grant.name(), lock -> {
            MemoryLock.Held held = lock.heldBy(grant);
            if (held != null) {
                held.watcher = watcher;
                waits[0] = !lock.queue.isEmpty();
            }
            return held == null ? watcher::broken : () -> {};
        });
        return waits[0];
    }

    /** Ends a wait; does nothing when the claim no longer waits. */
    void cancel(Claim claim) {
        change(claim.name(), lock -> {
            MemoryLock.Waiting gone = lock.dequeue(claim.id());
            // It may have been the only obstacle for a claim behind it that wants less.
            return gone == null ? () -> {} : both(gone.answer()::refused, settle(lock));
        });
    }

    Map<ClaimId, Renewal> renew(Collection<Grant> grants, TimeSource clientTime) {
        Map<ClaimId, Renewal> verdicts = new HashMap<>();
        for (Grant grant : grants) {
            change(grant.name(), lock -> {
                long sent = clientTime.nanoTime();
                MemoryLock.Held held = lock.heldBy(grant);
                if (held != null) {
                    held.expiresAt = time.nanoTime() + grant.lease().toNanos();
                }
                verdicts.put(grant.id(), held != null ? Renewal.held(sent, !lock.queue.isEmpty()) : Renewal.lost(sent));
                return () -> {};
            });
        }
        return verdicts;
    }

    Optional<Grant> extend(Grant grant, TimeSource clientTime) {
        List<Grant> fresh = new ArrayList<>();
        change(grant.name(), lock -> {
            MemoryLock.Held held = lock.heldBy(grant);
            if (held != null && lock.queue.isEmpty()) {
                long sent = clientTime.nanoTime();
                held.number = nextNumber(held.number);
                held.expiresAt = time.nanoTime() + grant.lease().toNanos();
                fresh.add(new Grant(grant.id(), grant.name(), grant.mode(), grant.lease(), held.number, sent));
            }
            return () -> {};
        });
        return fresh.stream().findFirst();
    }

    boolean downgrade(Grant grant) {
        boolean[] reads = new boolean[1];
        change(grant.name(), lock -> {
            MemoryLock.Held held = lock.heldBy(grant);
            if (held != null && held.mode.kind() != LockMode.PERMITS) {
                held.mode = Mode.SHARED;
                reads[0] = true;
            }
            return settle(lock);
        });
        return reads[0];
    }

    boolean release(String name, ClaimId id) {
        boolean[] wasHeld = new boolean[1];
        change(name, lock -> {
            wasHeld[0] = lock.heldBy(id) != null;
            if (wasHeld[0]) {
                lock.free(id);
            }
            return settle(lock);
        });
        return wasHeld[0];
    }

    LockStatus status(String name) {
        mutex.lock();
        try {
            MemoryLock lock = locks.get(name);
            return lock == null ? LockStatus.free(name, 0) : lock.status(time.nanoTime());
        } finally {
            mutex.unlock();
        }
    }

    List<LockStatus> list(String prefix) {
        mutex.lock();
        try {
            return locks.tailMap(prefix).entrySet().stream()
                    .takeWhile(entry -> entry.getKey().startsWith(prefix))
                    .map(entry -> entry.getValue().status(time.nanoTime()))
                    .filter(status -> status.isHeld() || status.waiting() > 0)
                    .toList();
        } finally {
            mutex.unlock();
        }
    }

    boolean breakGrant(String name, long number, boolean now) {
        boolean[] broken = new boolean[1];
        change(name, lock -> {
            Optional<MemoryLock.Held> held = lock.breakGrant(number, now);
            broken[0] = held.isPresent();
            Runnable settled = settle(lock);
            MemoryLock.Watcher watcher = held.map(each -> each.watcher).orElse(null);
            return watcher == null ? settled : both(settled, watcher::broken);
        });
        return broken[0];
    }

    /** A client is gone: its claims no longer wait. Its grants are left to their leases. */
    void leave(MemorySession session, RuntimeException closed) {
        for (String name : names()) {
            change(name, lock -> {
                List<MemoryLock.Waiting> left = lock.queue.stream()
                        .filter(waiting -> waiting.session() == session)
                        .toList();
                lock.queue.removeAll(left);
                return both(() -> left.forEach(waiting -> waiting.answer().failed(closed)), settle(lock));
            });
        }
    }

    private List<String> names() {
        mutex.lock();
        try {
            return List.copyOf(locks.keySet());
        } finally {
            mutex.unlock();
        }
    }

    /** One step on one lock, under the mutex; what the step returns runs after it. */
    private void change(String name, Function<MemoryLock, Runnable> step) {
        Runnable then = () -> {};
        mutex.lock();
        try {
            MemoryLock lock = locks.computeIfAbsent(name, MemoryLock::new);
            lock.expire(time.nanoTime());
            then = step.apply(lock);
            wakeAtExpiry(lock);
            if (lock.isIdle()) {
                locks.remove(name);
            }
        } finally {
            mutex.unlock();
            then.run(); // also where no wake could be planned: the decision is reported
        }
    }

    /** Grants the lock to the first in its queue for as long as they fit; to one that holds it already, again. */
    private Runnable settle(MemoryLock lock) {
        Runnable then = () -> {};
        for (MemoryLock.Waiting first = lock.queue.peekFirst();
                first != null && mayHave(lock, first.claim());
                first = lock.queue.peekFirst()) {
            lock.queue.removeFirst();
            then = both(then, grant(lock, first));
        }
        return then;
    }

    private static boolean mayHave(MemoryLock lock, Claim claim) {
        return lock.heldBy(claim.id()) != null || lock.fits(claim.mode());
    }

    private Runnable grant(MemoryLock lock, MemoryLock.Waiting first) {
        Claim claim = first.claim();
        long sent = first.session().time().nanoTime();
        boolean again = lock.heldBy(claim.id()) != null;
        MemoryLock.Held held = lock.holdBy(claim, time.nanoTime());
        held.number = again ? held.number : nextNumber(claim.floor());
        Grant grant = Grant.of(claim, held.number, sent);
        return () -> first.answer().granted(grant);
    }

    private long nextNumber(long floor) {
        long micros = Math.multiplyExact(time.wallMillis(), 1000L);
        lastNumber = Math.max(micros, Math.max(lastNumber, floor) + 1);
        return lastNumber;
    }

    private void wakeAtExpiry(MemoryLock lock) {
        if (!lock.queue.isEmpty()) {
            lock.firstExpiry().filter(at -> !lock.isWakePlannedBy(at)).ifPresent(at -> wakeAt(at, lock));
        }
    }

    private void wakeAt(long at, MemoryLock lock) {
        TimeSource.Scheduled task = time.schedule(
                () -> change(lock.name, woken -> {
                    woken.wokenAt(at);
                    return settle(woken);
                }),
                Duration.ofNanos(Math.max(0, at - time.nanoTime())));
        lock.planWake(at, task);
    }

    private static Runnable both(Runnable first, Runnable second) {
        return () -> {
            first.run();
            second.run();
        };
    }
}
