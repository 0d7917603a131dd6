package dev.holdfast;

import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * What the tests of the engine share: a client behind a store that does what a test wants, a rival on the same store,
 * and a clock that moves when told. What a client has to say to callers it says on the thread that caused it.
 */
@Timeout(120)
abstract class EngineCase {
    final ManualTime time = new ManualTime();
    final MemoryStore memory = new MemoryStore(time);
    final HostileStore line = new HostileStore(memory.open(time));
    final LockClient client = clientOn(line, time);
    final LockClient rival = clientOn(memory.open(time), time);
    final List<Loss> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeClients() {
        Thread.interrupted();
        line.passAll();
        client.close();
        rival.close();
    }

    static Duration s(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    /** Options under which grants are handed over freely. */
    static HoldOptions lease(double seconds) {
        return HoldOptions.defaults().lease(s(seconds)).handOver(64, Duration.ofMinutes(1));
    }

    /** One more client like {@link #client}, on a store and a clock of its own. */
    static LockClient clientOn(Store store, TimeSource time) {
        return LockClient.builder(store).time(time).executor(Runnable::run).build();
    }

    /** Moves the clock step by step, so that what is due in between comes in its order. */
    void advance(int steps, Duration step) {
        for (int i = 0; i < steps; i++) {
            time.advance(step);
        }
    }

    /** A grant as a store names it when it reports of it. */
    static Grant grantOf(String id) {
        return new Grant(ClaimId.of(id), "a", Mode.EXCLUSIVE, s(30), 1L, 0);
    }

    /** Calls on a thread of its own. */
    static <T> Started<T> start(Callable<T> what) {
        FutureTask<T> task = new FutureTask<>(what);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return new Started<>(thread, task);
    }

    /** Calls on a thread of its own that is to wait for a lock, and returns once it does. */
    static <T> Started<T> startAndWaitUntilItWaits(Callable<T> what) {
        Started<T> started = start(what);
        started.untilItWaits();
        return started;
    }

    record Started<T>(Thread thread, FutureTask<T> task) {
        T result() throws InterruptedException, ExecutionException {
            return task.get();
        }

        boolean isOver() {
            return task.isDone();
        }

        /** Whether it is parked, for ever or for a while. */
        boolean isWaiting() {
            Thread.State state = thread.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }

        void untilItWaits() {
            soon(() -> waitsForALock(thread));
        }
    }

    /** Whether a thread is parked in the queue of a lock, with everything about its wait set up. */
    static boolean waitsForALock(Thread thread) {
        Object blocker = LockSupport.getBlocker(thread);
        return thread.getState() == Thread.State.WAITING
                && blocker != null
                && blocker.getClass().getSimpleName().equals("Waiter");
    }

    static Hold closed(Hold hold) {
        hold.close();
        return hold;
    }

    /** Work that is not to run. */
    static OnceAction never() {
        return turn -> {
            throw new AssertionError("it ran");
        };
    }

    static void soon(Callable<Boolean> condition) {
        await().pollInterval(Duration.ofMillis(1)).until(condition);
    }
}
