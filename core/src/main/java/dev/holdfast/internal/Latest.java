package dev.holdfast.internal;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Those that came last, in their order, up to a limit: retained grants in the order of their last use, or withdrawals.
 *
 * <p>Thread-safe.
 *
 * @param <T> what they are
 */
final class Latest<T> {
    private final int most;
    private final ReentrantLock mutex = new ReentrantLock();
    private final LinkedHashSet<T> all = new LinkedHashSet<>();

    Latest(int most) {
        this.most = most;
    }

    /** Adds one; returns the one that came before all others if they are too many now. */
    @Nullable
    T add(T one) {
        mutex.lock();
        try {
            all.add(one);
            if (all.size() <= most) {
                return null;
            }
            Iterator<T> first = all.iterator();
            T tooMany = first.next();
            first.remove();
            return tooMany;
        } finally {
            mutex.unlock();
        }
    }

    void remove(T one) {
        mutex.lock();
        try {
            all.remove(one);
        } finally {
            mutex.unlock();
        }
    }
}
