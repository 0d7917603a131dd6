package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Mode;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The queues of one client: one for each name in the store and each way to hold it, made when somebody comes and forgotten
 * when nobody wants the name any more. Thread-safe.
 */
final class QueueRegistry implements Reachability.Waits {
    private final EngineContext context;
    private final Map<LockMode, ConcurrentHashMap<String, WaitQueue>> queues = new EnumMap<>(LockMode.class);

    QueueRegistry(EngineContext context) {
        this.context = context;
        for (LockMode kind : LockMode.values()) {
            queues.put(kind, new ConcurrentHashMap<>());
        }
    }

    /** Brings a waiter to the queue of its lock. */
    WaitQueue submit(LockName name, Waiter waiter) {
        context.throwIfClosed();
        StackRoom.forStep();
        context.telemetry().waiting(name, waiter);
        while (true) {
            WaitQueue queue = queueFor(name);
            try {
                if (queue.submit(waiter)) {
                    context.reachability().waiting();
                    if (context.isClosed()) {
                        queue.shutDown(context.closedException());
                    }
                    context.callSites().sample(waiter.site);
                    return queue;
                }
            } catch (Throwable broken) {
                queue.abandon(waiter);
                throw broken;
            }
            queue.forgetIfRetired();
        }
    }

    private WaitQueue queueFor(LockName name) {
        return of(name.mode().kind())
                .computeIfAbsent(
                        name.inStore(),
                        absent -> name.mode().kind() == LockMode.EXCLUSIVE
                                ? new ExclusiveQueue(context, name)
                                : new SharedQueue(context, name));
    }

    private ConcurrentHashMap<String, WaitQueue> of(LockMode kind) {
        return Objects.requireNonNull(queues.get(kind));
    }

    /** The queue of those who want a name so, while somebody wants or has it. */
    @Nullable
    WaitQueue find(String inStore, LockMode kind) {
        return of(kind).get(inStore);
    }

    /** All queues there are. */
    Stream<WaitQueue> all() {
        return queues.values().stream().flatMap(sameMode -> sameMode.values().stream());
    }

    boolean isEmpty() {
        return queues.values().stream().allMatch(Map::isEmpty);
    }

    /** A queue nobody is in any more. */
    void retired(WaitQueue queue) {
        of(queue.name().mode().kind()).remove(queue.name().inStore(), queue);
    }

    /** Gives a grant with its hold to the readers of a name. */
    void adoptAsReader(LockName name, GrantState grant, HoldState hold, Effects then) {
        SharedQueue readers = (SharedQueue) queueFor(name.as(Mode.SHARED));
        while (!readers.adopt(grant, hold, then)) {
            retired(readers); // in this moment, and another takes its place
            readers = (SharedQueue) queueFor(name.as(Mode.SHARED));
        }
    }

    /** Sends a claim, behind the releases of this client's grants by which the name was held in another way. */
    void send(ClaimInFlight claim, LockName name) {
        Effects.Effect send = () -> {
            context.releaseSender().sendUnconfirmed(name.inStore());
            claim.sendTo(context.store(), context.time());
        };
        for (Map<String, WaitQueue> sameMode : queues.values()) {
            WaitQueue queue = sameMode.get(name.inStore());
            if (queue != null && queue.name().mode().kind() != name.mode().kind()) {
                Effects.Effect then = send;
                send = () -> queue.claimBehind(then);
            }
        }
        send.run();
    }

    // ---- the callers of this client who wait, whatever for ----

    @Override
    public @Nullable String waitedForSince(long nanos, Predicate<String> isMeant) {
        return all().filter(queue -> queue.waiters.anySince(nanos))
                .map(queue -> queue.name().inStore())
                .filter(isMeant)
                .findFirst()
                .orElse(null);
    }

    @Override
    public @Nullable String waitedFor() {
        return all().filter(queue -> !queue.waiters.isEmpty())
                .map(queue -> queue.name().name())
                .findFirst()
                .orElse(null);
    }

    @Override
    public boolean isWaitedFor(Predicate<String> isMeant) {
        return all().anyMatch(queue ->
                !queue.waiters.isEmpty() && isMeant.test(queue.name().inStore()));
    }

    @Override
    public void failSince(long nanos, Predicate<String> isMeant, StoreUnavailableException why) {
        all().filter(queue -> isMeant.test(queue.name().inStore())).forEach(queue -> queue.failSince(nanos, why));
    }
}
