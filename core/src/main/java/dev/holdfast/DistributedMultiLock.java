package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.internal.LockName;
import dev.holdfast.internal.MultiAcquisition;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Several locks held together: all of them or none.
 *
 * <pre>{@code
 * DistributedMultiLock accounts = client.multiLock(List.of("account:7", "account:3"));
 * try (MultiHold both = accounts.acquire()) {
 *     transfer(both.token("account:7"), both.token("account:3"));
 * }
 * }</pre>
 *
 * <p>The names are locked in one order, whatever order they were given in, so that no two multi-locks can wait for each
 * other. The requests for all names are sent together. If a name is not free, the free names behind it are released, and
 * the multi-lock waits for that name. Each name is an ordinary {@link LockClient#lock lock}, which other callers may lock by
 * itself. A caller that holds one of the names while it waits for the multi-lock can deadlock, as with any locks.
 *
 * <p>Immutable and thread-safe.
 */
public final class DistributedMultiLock {
    private static final int MOST_NAMES = 100;

    private final Engine engine;
    private final List<LockName> names;
    private final HoldOptions options;
    private final MultiAcquisition acquisition;

    private DistributedMultiLock(Engine engine, List<LockName> names, HoldOptions options) {
        this.engine = engine;
        this.names = names;
        this.options = options;
        this.acquisition = engine.acquisition(names, options);
    }

    static DistributedMultiLock of(Engine engine, List<LockName> wanted, HoldOptions options) {
        if (wanted.isEmpty() || wanted.size() > MOST_NAMES) {
            throw new IllegalArgumentException("a multi-lock has 1 to " + MOST_NAMES + " names, not " + wanted.size());
        }
        Set<LockName> seen = new HashSet<>();
        for (LockName name : wanted) {
            if (!seen.add(name)) {
                throw new IllegalArgumentException("'" + name + "' is named twice in a multi-lock");
            }
        }
        return new DistributedMultiLock(engine, LockName.inOrder(wanted), options);
    }

    /** How its holds behave. */
    public HoldOptions options() {
        return options;
    }

    /** Its names, without the client's namespace, in the order in which they are locked. */
    public List<String> names() {
        return names.stream().map(LockName::name).toList();
    }

    /**
     * Acquires all, waiting as long as it takes.
     *
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws IllegalStateException if the thread holds one of the names to read; nothing is held then
     * @throws HoldfastException as {@link DistributedLock#acquire()}; nothing is held then
     */
    @CheckReturnValue
    public MultiHold acquire() throws InterruptedException {
        return acquisition.acquire(null).map(this::hold).orElseThrow(IllegalStateException::new);
    }

    /**
     * Acquires all if all are free right now; as {@link DistributedLock#tryAcquire()}.
     *
     * @return the hold, or empty if one of them cannot be acquired now
     * @throws HoldfastException as {@link DistributedLock#acquire()}; nothing is held then
     */
    @CheckReturnValue
    public Optional<MultiHold> tryAcquire() {
        return acquisition.tryAcquire().map(this::hold);
    }

    /**
     * Acquires all if that succeeds within a time, which counts for all of them together; as
     * {@link DistributedLock#tryAcquire(Duration)}.
     *
     * @param wait how long to wait for all of them; zero does not
     * @return the hold, or empty if the time passed
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws IllegalStateException as {@link #acquire()}, unless {@code wait} is zero
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing is held then
     * @throws HoldfastException as {@link DistributedLock#acquire()}; nothing is held then
     */
    @CheckReturnValue
    public Optional<MultiHold> tryAcquire(Duration wait) throws InterruptedException {
        return acquisition.acquire(wait).map(this::hold);
    }

    /**
     * Acquires all without blocking a thread; otherwise as {@link DistributedLock#acquireAsync()}.
     * Cancelling the future gives everything up.
     *
     * @throws ClientClosedException if the client is closed already
     * @throws IllegalStateException if the locks are re-entrant: such holds belong to threads
     */
    @CheckReturnValue
    public CompletableFuture<MultiHold> acquireAsync() {
        return acquisition.acquireAsync(this::hold);
    }

    /**
     * Acquires all within a time, without blocking a thread; as {@link DistributedLock#tryAcquireAsync(Duration)}. The
     * time counts for all of them together.
     *
     * @param wait how long to wait for all of them; zero does not
     * @return the hold, or empty if the time passed
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws ClientClosedException if the client is closed already
     * @throws IllegalStateException if the locks are re-entrant: such holds belong to threads
     */
    @CheckReturnValue
    public CompletableFuture<Optional<MultiHold>> tryAcquireAsync(Duration wait) {
        return acquisition.tryAcquireAsync(wait, this::hold);
    }

    /**
     * Does something while all are held; as {@link DistributedLock#run(HoldAction)}.
     *
     * <pre>{@code
     * accounts.run(both -> transfer(both.token("account:7"), both.token("account:3")));
     * }</pre>
     *
     * @throws HoldLostException if one of the locks was lost while the action ran
     * @throws HoldfastException as {@link DistributedLock#acquire()}; the action did not run
     */
    public <E extends Exception> void run(HoldAction<MultiHold, E> action) throws E, InterruptedException {
        try (MultiHold hold = acquire()) {
            action.run(hold);
        }
    }

    /**
     * Computes something while all are held; as {@link DistributedLock#call(HoldTask)}.
     *
     * @throws HoldLostException if one of the locks was lost while the task ran
     * @throws HoldfastException as {@link DistributedLock#acquire()}; the task did not run
     */
    public <T, E extends Exception> T call(HoldTask<MultiHold, T, E> task) throws E, InterruptedException {
        try (MultiHold hold = acquire()) {
            return task.call(hold);
        }
    }

    /**
     * The state of each in the store, in the order of {@link #names()}: one request per name.
     *
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    public List<LockStatus> status() {
        return names.stream().map(engine.inspection()::status).toList();
    }

    @Override
    public String toString() {
        return "DistributedMultiLock" + names() + " on " + engine.storeDescription();
    }

    private MultiHold hold(List<HoldHandle> anchors) {
        return new MultiHold(anchors.stream()
                .map(anchor -> new Hold(anchor, LockMode.EXCLUSIVE))
                .collect(Collectors.toUnmodifiableList()));
    }
}
