package dev.holdfast.tck;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.testbed.Stalls;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Cases of what several may hold together, through the engine. */
abstract class SharedCases extends Cases {
    /** The next claim of another client finds the lock free when the close has returned. */
    static final HoldOptions AWAITED = HoldOptions.defaults().awaitRelease(true);

    SharedCases(StoreContract contract) {
        super(contract);
    }

    /** One lock, as several clients see it. */
    List<DistributedReadWriteLock> locks(int clients, HoldOptions options) {
        assumeShared();
        String name = rig.name();
        return Stream.generate(() -> rig.client().readWriteLock(name, options))
                .limit(clients)
                .toList();
    }

    /** One semaphore, as several clients see it. */
    List<DistributedSemaphore> semaphores(int clients, int permits, HoldOptions options) {
        assumePermits();
        String name = rig.name();
        return Stream.generate(() -> rig.client().semaphore(name, permits, options))
                .limit(clients)
                .toList();
    }

    /**
     * Lets the first of two who wait have its turn. Where it was not scheduled, the second may rightly be served in its
     * place: then the attempt has proved nothing.
     */
    void servedFirst(Runnable release, CompletableFuture<?> first, CompletableFuture<?> second) {
        try (Stalls stalls = Stalls.watch()) {
            release.run();
            rig.patience.until("one of two to be served", () -> first.isDone() || second.isDone());
            if (!first.isDone()) {
                rig.throwIfLonger(stalls, Rig.OF_A_TURN);
            }
        }
    }

    /** Runs tasks on threads of their own, from the same moment on, and awaits them all. */
    void together(String what, List<Rig.Body> tasks) {
        CyclicBarrier start = new CyclicBarrier(tasks.size());
        List<Future<Boolean>> threads = tasks.stream()
                .map(task -> rig.fork(() -> {
                    start.await();
                    task.run();
                    return true;
                }))
                .toList();
        threads.forEach(each -> rig.patience.times(4).result(each, what));
    }

    void assumeShared() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.SHARED), "this store has no shared mode");
    }

    void assumePermits() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.PERMITS), "this store has no permits");
    }

    void assumeFair() {
        assumeTrue(rig.capabilities().fair(), "this store promises no order");
    }
}
