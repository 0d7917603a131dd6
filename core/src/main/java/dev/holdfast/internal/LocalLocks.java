package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The locks that one client has to do with: one for each name in the store, made when somebody comes and forgotten when nobody
 * wants the name any more. Thread-safe.
 */
final class LocalLocks {
    private final EngineContext context;
    private final Map<String, LocalLock> locks = new ConcurrentHashMap<>();

    LocalLocks(EngineContext context) {
        this.context = context;
    }

    /** Brings a waiter to the queue of its lock. */
    WaitQueue submit(LockName name, Waiter waiter) {
        context.throwIfClosed();
        StackRoom.forStep();
        context.telemetry.waiting(name, waiter);
        waiter.site = context.callSites.next();
        while (true) {
            LocalLock lock = locks.computeIfAbsent(name.inStore(), absent -> new LocalLock(context, name));
            WaitQueue queue = lock.side(name);
            try {
                if (queue.submit(waiter)) {
                    context.reachability.waiting();
                    if (context.isClosed()) {
                        lock.shutDown(context.closedException());
                    }
                    waiter.site.record(); // after its claim was sent
                    return queue;
                }
            } catch (Throwable broken) {
                queue.abandon(waiter);
                throw broken;
            }
            lock.forgetIfRetired();
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

    // ---- the callers of this client who wait, whatever for ----

    /** A name in the store, of those meant, for which somebody without a time limit has waited since then or longer; or null. */
    @Nullable
    String waitedForSince(long nanos, Predicate<String> isMeant) {
        return waits().filter(queue -> queue.anySince(nanos))
                .map(queue -> queue.name.inStore())
                .filter(isMeant)
                .findFirst()
                .orElse(null);
    }

    /** A name somebody waits for; null if nobody waits. */
    @Nullable
    String waitedFor() {
        return waits().map(queue -> queue.name.name()).findFirst().orElse(null);
    }

    /** Whether somebody waits for one of the names meant. */
    boolean isWaitedFor(Predicate<String> isMeant) {
        return waits().anyMatch(queue -> isMeant.test(queue.name.inStore()));
    }

    /** Fails those without a time limit who have waited for a name meant since then or longer. */
    void failSince(long nanos, Predicate<String> isMeant, StoreUnavailableException why) {
        sides().filter(queue -> isMeant.test(queue.name.inStore())).forEach(queue -> queue.failSince(nanos, why));
    }

    private Stream<WaitQueue> waits() {
        return sides().filter(queue -> !queue.waiters.isEmpty());
    }

    private Stream<WaitQueue> sides() {
        return all().flatMap(LocalLock::sides);
    }
}
