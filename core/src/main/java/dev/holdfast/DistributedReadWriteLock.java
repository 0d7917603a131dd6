package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.Mode;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock that many readers may hold together, or one writer alone, shared by all processes on the same store by its
 * name.
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
 *   <li>Readers and writers are served in order of arrival: a reader that arrives after a writer waits behind it, so
 *       neither starves. Readers of one client share one grant, which readers of the same client may join for the
 *       bounds of hand-over ({@link HoldOptions#maxHandOverTime()}, 5 ms by default) before the store is asked whether
 *       a writer of another client waits; none joins once a writer of this client does. With
 *       {@link HoldOptions#strictFifo()} none joins at all: each reader goes through the store's queue. A reader
 *       without {@link HoldOptions#autoRenew()} may change its lease, so it never shares its grant.
 *   <li>A write hold's token is greater than those of all holds before it, a read hold's greater than those of all write
 *       holds before it; readers of one client may have the same. Let a resource check writers' tokens only.
 *   <li>A writer may become a reader ({@link #downgrade}), keeping token and place. A reader cannot become a writer: two
 *       readers that tried would wait for each other. A thread whose read hold is bound to it is refused immediately, by an
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
     * Makes a write hold a read hold in place, without letting another writer in between: its token, its lease and its
     * {@link Hold#onLost} actions stay. Readers of this client may join immediately, readers of other clients as soon as the
     * store has handled the request, which is repeated while the store does not answer; this call does not wait for that. If
     * a store cannot downgrade a grant, it keeps other clients out until the hold is closed.
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
     * The lock as the store knows it. If several readers hold it, one of them is named.
     *
     * @throws HoldfastException as {@link DistributedLock#acquire()}
     */
    public LockStatus status() {
        return write.status();
    }

    /**
     * This lock as a {@link ReadWriteLock}: owned by threads and re-entrant, as described at {@link DistributedLock#asLock()}.
     * A thread that holds the write lock may take the read lock, and continues to read if it unlocks the write lock
     * first. A thread that holds the read lock cannot take the write lock: {@code writeLock().tryLock()} returns false
     * immediately, {@code tryLock(time, unit)} returns false after that time, and {@code lock()} throws {@link
     * IllegalStateException}.
     */
    public ReadWriteLock asReadWriteLock() {
        return new Both(read.asLock(), write.asLock());
    }

    /**
     * The two sides as the JDK names them.
     *
     * @param readLock to read under
     * @param writeLock to write under
     */
    private record Both(Lock readLock, Lock writeLock) implements ReadWriteLock {}

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name + " on " + engine.storeDescription() + "]";
    }
}
