package dev.holdfast;

import dev.holdfast.internal.Acquisition;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A number of permits that all processes on the same store share by its name: that many holders may work at once.
 *
 * <pre>{@code
 * DistributedSemaphore exports = client.semaphore("exports", 4);
 * try (Hold permit = exports.acquire()) {
 *     export();                       // never more than four at once, over all machines
 * }
 * }</pre>
 *
 * <p>A permit is a {@link Hold} with a lease, a {@link Hold#id() id} and a token of its own: if a process
 * ends, its permits are free again when their leases have run out. No permit is released twice, and the loss of a permit is
 * reported. Waiting clients are served in order of arrival; a client that wants several permits is not overtaken by
 * clients that want fewer.
 *
 * <p>Each client says how many permits there are. The store does not keep that number, so a new number can be rolled out
 * like any setting. While clients disagree, a client acquires when all permits in use, its own included, are within its own
 * number. So no client loses a permit when the number goes down, and clients with the smaller number wait until enough
 * permits are free. All clients wait in one queue: a client with the larger number waits behind one with the smaller.
 *
 * <p>Use a name for a semaphore or for a lock: holds of one kind keep out those of the other. Holds are not re-entrant.
 * Immutable and thread-safe.
 */
public final class DistributedSemaphore {
    private final Engine engine;
    private final LockName name;
    private final int permits;
    private final HoldOptions options;

    DistributedSemaphore(Engine engine, LockName name, int permits, HoldOptions options) {
        if (options.reentrant()) {
            throw new IllegalArgumentException(
                    "a semaphore has no owners, so '" + name + "' cannot be re-entrant: leave reentrant(true) out");
        }
        this.engine = engine;
        this.name = name;
        this.permits = permits;
        this.options = options;
    }

    /** Its name, without the client's namespace. */
    public String name() {
        return name.name();
    }

    /** How many permits there are. */
    public int permits() {
        return permits;
    }

    /** How its holds behave. */
    public HoldOptions options() {
        return options;
    }

    /** Acquires one permit; as {@link #acquire(int)}. */
    @CheckReturnValue
    public Hold acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Acquires some permits, all or none, waiting as long as it takes. Closing the hold releases them together.
     *
     * @param wanted how many, 1 to {@link #permits()}
     * @throws IllegalArgumentException if {@code wanted} is out of range
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    @CheckReturnValue
    public Hold acquire(int wanted) throws InterruptedException {
        return hold(some(wanted).acquire());
    }

    /** Acquires one permit if one is free right now; as {@link #tryAcquire(int)}. */
    @CheckReturnValue
    public Optional<Hold> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Acquires some permits if they are free right now and no other client waits; as {@link DistributedLock#tryAcquire()}.
     *
     * @param wanted how many, 1 to {@link #permits()}
     * @return the hold, or empty if they cannot be acquired now
     * @throws IllegalArgumentException if {@code wanted} is out of range
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    @CheckReturnValue
    public Optional<Hold> tryAcquire(int wanted) {
        return some(wanted).tryAcquire().map(DistributedSemaphore::hold);
    }

    /** Acquires one permit within a time; as {@link #tryAcquire(int, Duration)}. */
    @CheckReturnValue
    public Optional<Hold> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(1, wait);
    }

    /**
     * Acquires some permits if that succeeds within a time; as {@link DistributedLock#tryAcquire(Duration)}.
     *
     * @param wanted how many, 1 to {@link #permits()}
     * @param wait how long to wait; zero does not
     * @return the hold, or empty if the time passed
     * @throws IllegalArgumentException if {@code wanted} is out of range, or {@code wait} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    @CheckReturnValue
    public Optional<Hold> tryAcquire(int wanted, Duration wait) throws InterruptedException {
        return some(wanted).acquire(wait).map(DistributedSemaphore::hold);
    }

    /**
     * Acquires some permits without blocking a thread; as {@link DistributedLock#acquireAsync()}.
     *
     * @param wanted how many, 1 to {@link #permits()}
     * @throws IllegalArgumentException if {@code wanted} is out of range
     * @throws ClientClosedException if the client is closed already
     */
    @CheckReturnValue
    public CompletableFuture<Hold> acquireAsync(int wanted) {
        return some(wanted).acquireAsync(DistributedSemaphore::hold, Hold::giveBack);
    }

    /** Acquires one permit without blocking a thread; as {@link #acquireAsync(int)}. */
    @CheckReturnValue
    public CompletableFuture<Hold> acquireAsync() {
        return acquireAsync(1);
    }

    /**
     * Acquires some permits within a time, without blocking a thread; as
     * {@link DistributedLock#tryAcquireAsync(Duration)}.
     *
     * @param wanted how many, 1 to {@link #permits()}
     * @param wait how long to wait; zero tries once
     * @return the hold, or empty if the time passed
     * @throws IllegalArgumentException if {@code wanted} is out of range, or {@code wait} is negative
     * @throws ClientClosedException if the client is closed already
     */
    @CheckReturnValue
    public CompletableFuture<Optional<Hold>> tryAcquireAsync(int wanted, Duration wait) {
        return some(wanted).tryAcquireAsync(wait, DistributedSemaphore::hold, Hold::giveBack);
    }

    /**
     * Does something with one permit held; as {@link DistributedLock#run(HoldAction)}.
     *
     * <pre>{@code
     * downloads.run(hold -> fetch(url));
     * }</pre>
     *
     * @throws HoldLostException if the permit was lost while the action ran
     * @throws HoldfastException as {@link DistributedLock#acquire()}; the action did not run
     */
    public <E extends Exception> void run(HoldAction<Hold, E> action) throws E, InterruptedException {
        try (Hold hold = acquire()) {
            action.run(hold);
        }
    }

    /**
     * Computes something with one permit held; as {@link DistributedLock#call(HoldTask)}.
     *
     * @throws HoldLostException if the permit was lost while the task ran
     * @throws HoldfastException as {@link DistributedLock#acquire()}; the task did not run
     */
    public <T, E extends Exception> T call(HoldTask<Hold, T, E> task) throws E, InterruptedException {
        try (Hold hold = acquire()) {
            return task.call(hold);
        }
    }

    /**
     * The state in the store; if there are several holders, one of them is named.
     *
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    public LockStatus status() {
        return engine.inspection().status(name);
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + name + ", " + permits + " permits, on " + engine.storeDescription() + "]";
    }

    private Acquisition some(int wanted) {
        if (wanted < 1 || wanted > permits) {
            throw new IllegalArgumentException(
                    "of '" + name + "' 1 to " + permits + " permits can be had, not " + wanted);
        }
        return engine.acquisition(name.as(new Mode.Permits(wanted, permits)), options);
    }

    private static Hold hold(HoldHandle anchor) {
        return new Hold(anchor, LockMode.PERMITS);
    }
}
