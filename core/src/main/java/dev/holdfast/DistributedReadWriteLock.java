package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.Mode;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock that many may hold to read, or one alone to write, shared by all processes on the same store by its name.
 *
 * <pre>{@code
 * DistributedReadWriteLock catalogue = client.readWriteLock("catalogue");
 * try (Hold reading = catalogue.read().acquire()) {
 *     show(prices);
 * }
 * try (Hold writing = catalogue.write().acquire()) {
 *     change(prices, writing.token());
 *     catalogue.downgrade(writing);      // other readers come in, no other writer before this closes
 *     show(prices);
 * }
 * }</pre>
 *
 * <p>The rules:
 *
 * <ul>
 *   <li>Who came first is served first, readers and writers alike: a reader who comes after a writer waits behind it, so
 *       neither starves. Readers of one client share one grant, which readers of the same client may join for the bounds
 *       of hand-over ({@link HoldOptions#maxHandOverTime()}, 5 ms unless told otherwise) before the store is asked
 *       whether a writer of another client waits; none joins once a writer of this client does. With
 *       {@link HoldOptions#strictFifo()} none joins at all: each reader goes through the store's queue. A reader without
 *       {@link HoldOptions#autoRenew()}, who may change its lease, has nobody beside it in its grant.
 *   <li>A write hold's token is greater than those of all holds before it, a read hold's greater than those of all write
 *       holds before it; readers of one client may have the same. Let a resource check writers' tokens only.
 *   <li>A writer may become a reader ({@link #downgrade}), keeping token and place. A reader cannot become a writer: two
 *       who tried would wait for each other. A thread whose read hold is bound to it is refused immediately, by an
 *       {@link IllegalStateException}, and where it would not wait, by an empty answer. A thread whose read hold any
 *       thread may close waits, and is warned about in the log: it may have handed that hold on.
 *   <li>With {@link HoldOptions#reentrant()} a thread that holds the lock may acquire it again in the same way, and one
 *       that writes may read.
 * </ul>
 *
 * <p>The name is shared with {@link LockClient#lock}: {@link #write()} is that lock. Immutable and thread-safe.
 */
public final class DistributedReadWriteLock {
    private final Engine engine;
    private final HoldOptions options;
    private final DistributedLock read;
    private final DistributedLock write;
    private final LockName name;

    DistributedReadWriteLock(Engine engine, LockName name, HoldOptions options) {
        this.engine = engine;
        this.name = name;
        this.options = options;
        this.read = new DistributedLock(engine, name.as(Mode.SHARED), options);
        this.write = new DistributedLock(engine, name, options);
    }

    /** Its name, without the client's namespace. */
    public String name() {
        return name.name();
    }

    /** How its holds behave, to read and to write. */
    public HoldOptions options() {
        return options;
    }

    /** The lock to read under: held together with other readers. */
    public DistributedLock read() {
        return read;
    }

    /** The lock to write under: held alone. */
    public DistributedLock write() {
        return write;
    }

    /**
     * Makes a write hold a read hold in place, without letting another writer in between: its token, its lease and those
     * who want to hear of its loss stay. Readers of this client may join at once, others as soon as the store has heard;
     * does not wait for that. A store that cannot loosen a grant keeps the others out until the hold is closed.
     *
     * @param writing an open hold of {@link #write()}, entered once
     * @throws IllegalArgumentException if it is a hold of another name
     * @throws IllegalStateException if it reads already, was entered more than once, is closed, or is in doubt just now
     * @throws HoldLostException if it is lost
     */
    public void downgrade(Hold writing) {
        if (!writing.name().equals(name()) || !writing.belongsTo(engine)) {
            throw new IllegalArgumentException("cannot downgrade '" + name() + "' on " + engine.storeDescription()
                    + ": the hold of '" + writing.name() + "' is not of its write() in this client; hand in that one");
        }
        writing.downgrade();
    }

    /**
     * What the store knows of it; of many readers one is named.
     *
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    public LockStatus status() {
        return write.status();
    }

    /**
     * This lock as a {@link ReadWriteLock}: owned by threads and re-entrant, as {@link DistributedLock#asLock()} tells.
     * A thread that holds the write lock may take the read lock, and reads on when it unlocks the write lock first; the
     * other way round, {@code writeLock().tryLock()} is false, with a time after that time, and {@code lock()} throws
     * {@link IllegalStateException}.
     */
    public ReadWriteLock asReadWriteLock() {
        return engine.javaReadWriteLock(name, options);
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name + " on " + engine.storeDescription() + "]";
    }
}
