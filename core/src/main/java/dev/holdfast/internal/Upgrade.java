package dev.holdfast.internal;

import dev.holdfast.spi.Mode;

/**
 * What a thread is told that reads and wants to write as well: no, at once.
 *
 * <p>It would wait for itself; and where two readers wanted it, each would wait for the other, for ever. As in
 * {@link java.util.concurrent.locks.ReentrantReadWriteLock} there is no such way; a writer who is content to read can
 * become a reader without letting another writer in between.
 */
final class Upgrade {
    private Upgrade() {}

    /** Whether the calling thread wants a name for itself alone that it reads. */
    static boolean isWanted(Engine engine, LockName name) {
        return name.mode().kind() == Mode.Kind.EXCLUSIVE
                && engine.queue(name.inStore(), Mode.Kind.SHARED) instanceof LocalPool readers
                && readers.isHeldBy(Thread.currentThread());
    }

    /** Throws if the calling thread wants that. */
    static void refuse(Engine engine, LockName name) {
        if (isWanted(engine, name)) {
            throw new IllegalStateException("this thread acquired '" + name + "' on " + engine.storeDescription()
                    + " to read and would wait for itself to write: close that hold first, or acquire to write and"
                    + " downgrade");
        }
    }
}
