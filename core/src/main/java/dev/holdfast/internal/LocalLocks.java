package dev.holdfast.internal;

import dev.holdfast.LockMode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The locks that one client has to do with: one for each name in the store, made when somebody comes and forgotten when nobody
 * wants the name any more. Thread-safe.
 */
final class LocalLocks {
    private final Engine engine;
    private final Map<String, LocalLock> locks = new ConcurrentHashMap<>();

    LocalLocks(Engine engine) {
        this.engine = engine;
    }

    /** Brings a waiter to the queue of its lock. */
    WaitQueue submit(LockName name, Waiter waiter) {
        engine.throwIfClosed();
        StackRoom.forStep();
        engine.telemetry.waiting(name, waiter);
        waiter.site = engine.callSites.next();
        while (true) {
            LocalLock lock = locks.computeIfAbsent(name.inStore(), absent -> new LocalLock(engine, name));
            WaitQueue queue = lock.side(name);
            try {
                if (queue.submit(waiter)) {
                    engine.reachability.waiting();
                    if (engine.isClosed()) {
                        lock.shutDown(engine.closedException());
                    }
                    waiter.site.record(); // after its claim was sent
                    return queue;
                }
            } catch (Throwable broken) {
                queue.abandon(waiter);
                throw broken;
            }
            if (lock.read(() -> lock.retired)) {
                retired(lock); // now: whoever retired it may be on this very stack, and come to that only later
            }
        }
    }

    /** The queue of those who want a name so, if there is one. */
    @Nullable
    WaitQueue find(String inStore, LockMode kind) {
        LocalLock lock = locks.get(inStore);
        return lock == null ? null : lock.side(kind);
    }

    /** All locks there are. */
    Stream<LocalLock> all() {
        return locks.values().stream();
    }

    boolean isEmpty() {
        return locks.isEmpty();
    }

    /** A lock nobody wants any more. */
    void retired(LocalLock lock) {
        locks.remove(lock.name.inStore(), lock);
    }

    /** The queues in which callers of this client wait. */
    Stream<WaitQueue> waits() {
        return all().flatMap(LocalLock::sides).filter(queue -> !queue.waiters.isEmpty());
    }
}
