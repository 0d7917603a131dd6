package dev.holdfast;

import dev.holdfast.internal.Acquisition;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.internal.LockName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;

/**
 * A mutual-exclusion lock that all processes on the same store share by its name.
 *
 * <pre>{@code
 * DistributedLock lock = client.lock("order:42");
 * try (Hold hold = lock.acquire()) {                                // waits its turn
 *     orders.charge(42, hold.token());
 * }
 * Optional<Hold> now = lock.tryAcquire();                           // asks once
 * Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(2));     // waits for two seconds at most
 * }</pre>
 *
 * <p>Threads of one client queue up locally in order of arrival; the client as a whole waits once in the store. Not
 * re-entrant unless {@link HoldOptions#reentrant()} is set: a thread that requests a lock it holds itself waits, and is
 * warned about in the log.
 *
 * <p>Immutable and thread-safe; keeps nothing in the store by itself. Make as many as you like.
 */
public final class DistributedLock {
    private final Engine engine;
    private final LockName name;
    private final HoldOptions options;
    private final Acquisition acquisition;

    DistributedLock(Engine engine, LockName name, HoldOptions options) {
        this.engine = engine;
        this.name = name;
        this.options = options;
        this.acquisition = engine.acquisition(name, options);
    }

    /** Its name, without the client's namespace. */
    public String name() {
        return name.name();
    }

    /** How its holds behave. */
    public HoldOptions options() {
        return options;
    }

    /**
     * Acquires the lock, waiting as long as it takes. The wait continues through an outage of the store, for one minute
     * at most unless {@link LockClientBuilder#outageLimit} sets another limit.
     *
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws StoreUnavailableException if the store has not answered for that long
     * @throws StoreRefusedException if the store refused
     * @throws ClientClosedException if the client is closed
     * @throws HoldLostException if this is a re-entry into a hold that was lost and is not closed yet
     * @throws IllegalStateException if the thread holds this name to {@linkplain DistributedReadWriteLock#read() read},
     *     by a hold that is {@linkplain HoldOptions#reentrant() bound to it}: it would wait for itself
     */
    @CheckReturnValue
    public Hold acquire() throws InterruptedException {
        return hold(acquisition.acquire());
    }

    /**
     * Acquires the lock if it is free right now. Sends the store at most one request and is not interruptible; sends
     * none when this client holds the lock.
     *
     * @return the hold; or empty if another caller holds the lock or is next to get it, if re-entry would use a hold that
     * is in doubt, or if the thread holds this name to read
     * @throws StoreUnavailableException if the store did not answer this one request
     * @throws HoldfastException as {@link #acquire()}
     */
    @CheckReturnValue
    public Optional<Hold> tryAcquire() {
        return acquisition.tryAcquire().map(this::hold);
    }

    /**
     * Acquires the lock if that succeeds within a time. When the time has passed, the client checks that the store
     * still answers, so that an outage is never mistaken for a lock that others hold. The check takes as long as the
     * store takes to answer, or its time-out for requests.
     *
     * @param wait how long to wait; zero is {@link #tryAcquire()}, more than 292 years is for ever
     * @return the hold, or empty if the time passed and others hold the lock
     * @throws StoreUnavailableException if the time passed and the store does not answer
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws IllegalStateException as {@link #acquire()}, unless {@code wait} is zero
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws HoldfastException as {@link #acquire()}
     */
    @CheckReturnValue
    public Optional<Hold> tryAcquire(Duration wait) throws InterruptedException {
        return acquisition.acquire(wait).map(this::hold);
    }

    /**
     * Acquires the lock without blocking a thread. Cancelling the future gives up the place in the queue; a hold that
     * was granted at the same moment is released. Once the future has completed, {@code cancel} returns false and the
     * hold is the caller's to close; one that is dropped is a leak, reported when it is collected.
     *
     * <p>Completes on the client's executor, exceptionally with what {@link #acquire()} would throw.
     *
     * @throws ClientClosedException if the client is closed already
     * @throws IllegalStateException if the lock is re-entrant: such holds belong to threads
     */
    @CheckReturnValue
    public CompletableFuture<Hold> acquireAsync() {
        return acquisition.acquireAsync(this::hold, Hold::giveBack);
    }

    /** The same, completing on an executor of the caller's. */
    CompletableFuture<Hold> acquireAsync(Executor completing) {
        return acquisition.acquireAsync(completing, this::hold, Hold::giveBack);
    }

    /**
     * Acquires the lock within a time, without blocking a thread: {@link #tryAcquire(Duration)} for futures. Cancelling
     * and completion are as of {@link #acquireAsync()}.
     *
     * @param wait how long to wait; zero tries once
     * @return the hold, or empty if the time passed and others hold the lock
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws ClientClosedException if the client is closed already
     * @throws IllegalStateException if the lock is re-entrant: such holds belong to threads
     */
    @CheckReturnValue
    public CompletableFuture<Optional<Hold>> tryAcquireAsync(Duration wait) {
        return acquisition.tryAcquireAsync(wait, this::hold, Hold::giveBack);
    }

    /**
     * Does something while the lock is held, waiting for the lock as long as it takes.
     *
     * <pre>{@code
     * lock.run(hold -> orders.charge(42, hold.token()));
     * }</pre>
     *
     * @throws E what the action throws, after the lock was released
     * @throws HoldLostException if the lock was lost while the action ran; where the action threw too, it is suppressed
     *     in what that threw
     * @throws InterruptedException if the thread is interrupted before or while waiting; the action did not run
     * @throws HoldfastException as {@link #acquire()}; the action did not run
     */
    public <E extends Exception> void run(HoldAction<Hold, E> action) throws E, InterruptedException {
        try (Hold hold = acquire()) {
            action.run(hold);
        }
    }

    /**
     * Does something while the lock is held, if it can be acquired within a time; otherwise as
     * {@link #run(HoldAction)}.
     *
     * <pre>{@code
     * boolean ran = lock.run(Duration.ofSeconds(2), hold -> orders.charge(42, hold.token()));
     * }</pre>
     *
     * @param wait how long to wait; zero does not
     * @return whether it was done; false if the time passed and others hold the lock
     * @throws IllegalArgumentException if {@code wait} is negative
     */
    @CheckReturnValue
    public <E extends Exception> boolean run(Duration wait, HoldAction<Hold, E> action) throws E, InterruptedException {
        Optional<Hold> acquired = tryAcquire(wait);
        if (acquired.isEmpty()) {
            return false;
        }
        try (Hold hold = acquired.get()) {
            action.run(hold);
        }
        return true;
    }

    /**
     * Computes something while the lock is held; otherwise as {@link #run(HoldAction)}.
     *
     * <pre>{@code
     * Receipt receipt = lock.call(hold -> orders.charge(42, hold.token()));
     * }</pre>
     *
     * @return what the task returned
     */
    public <T, E extends Exception> T call(HoldTask<Hold, T, E> task) throws E, InterruptedException {
        try (Hold hold = acquire()) {
            return task.call(hold);
        }
    }

    /**
     * Computes something while the lock is held, if it can be acquired within a time; otherwise as
     * {@link #run(HoldAction)}.
     *
     * <pre>{@code
     * Optional<Receipt> receipt = lock.call(Duration.ofSeconds(2), hold -> orders.charge(42, hold.token()));
     * }</pre>
     *
     * @param wait how long to wait; zero does not
     * @param task what to compute, never null
     * @return what the task returned, or empty if the time passed and others hold the lock
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws NullPointerException if the task returned null
     */
    @CheckReturnValue
    public <T, E extends Exception> Optional<T> call(Duration wait, HoldTask<Hold, T, E> task)
            throws E, InterruptedException {
        Optional<Hold> acquired = tryAcquire(wait);
        if (acquired.isEmpty()) {
            return Optional.empty();
        }
        try (Hold hold = acquired.get()) {
            return Optional.of(task.call(hold));
        }
    }

    /**
     * This lock as a {@link Lock}: owned by threads and re-entrant, whatever {@link #options()} says.
     *
     * <pre>{@code
     * ThreadLock guard = client.lock("report").asLock();
     * guard.lock();
     * try {
     *     report.write();
     * } finally {
     *     guard.unlock();
     * }
     * }</pre>
     *
     * <p>It keeps what {@link java.util.concurrent.locks.ReentrantLock} promises: a thread unlocks as often as it locked;
     * an unlock by another thread throws {@link IllegalMonitorStateException}; {@code lockInterruptibly()} and {@code
     * tryLock(time, unit)} react to an interrupt; {@code lock()} and {@code tryLock()} leave the interrupt flag
     * unchanged; and the next owner in this client sees what the previous owner wrote before it unlocked. A distributed
     * lock differs in these points:
     *
     * <ul>
     *   <li>Locking can fail, as {@link #acquire()} can, with a {@link HoldfastException}; nothing is held then.
     *   <li>The lock can be lost. Each {@code unlock()} then throws {@link IllegalMonitorStateException}, caused by a
     *       {@link HoldLostException}, and entering again throws {@link HoldLostException} until the last of them. A
     *       closed client no longer knows any owner.
     *   <li>While the hold is in doubt, locking again waits until the store has confirmed it. {@code tryLock()} does
     *       not wait and returns false.
     *   <li>A thread that ends while it holds the lock is reported as a leak, and the lock is free when its lease has
     *       run out.
     *   <li>There are no conditions: {@code newCondition()} throws {@link UnsupportedOperationException}.
     *   <li>{@code tryLock()}, and {@code tryLock(time, unit)} without a positive time, take as long as the store takes
     *       to answer, and never overtake a thread of this client that waits.
     *   <li>The threads of one client are served in order of arrival. A client that had the lock goes behind the
     *       clients that wait, but only when the bounds of {@link HoldOptions#handOver} are reached, or each time with
     *       {@link HoldOptions#strictFifo()}.
     *   <li>A thread owns the lock within one client: two clients exclude each other on one thread, too.
     *   <li>Between processes, the lock gives mutual exclusion, but no memory visibility: what the next holder sees
     *   depends on the resource that was written.
     * </ul>
     *
     * <p>Thread-safe. All locks of this name made by one client are one lock, with the lease of the caller that locked it first.
     */
    public ThreadLock asLock() {
        return engine.javaLock(name, options);
    }

    /**
     * Asks the store for the holder of the lock, how long it has held the lock, how long its lease lasts, and how many
     * clients wait.
     *
     * @throws HoldfastException as {@link #acquire()}
     */
    public LockStatus status() {
        return engine.inspection().status(name);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + " on " + engine.storeDescription() + "]";
    }

    private Hold hold(HoldHandle anchor) {
        return new Hold(anchor, name.mode().kind());
    }
}
