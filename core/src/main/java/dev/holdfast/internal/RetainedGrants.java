package dev.holdfast.internal;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The retained grants of one client, in the order in which they were used last, up to a limit. Thread-safe. */
final class RetainedGrants {
    /** How many a client retains: each is renewed. */
    static final int MOST = 10_000;

    private final int most;
    private final AtomicBoolean warned = new AtomicBoolean();
    private final ReentrantLock mutex = new ReentrantLock();
    private final LinkedHashSet<Retention> grants = new LinkedHashSet<>();

    RetainedGrants(int most) {
        this.most = most;
    }

    /** Adds one that was used just now; returns the one used least recently if they are too many now. */
    @Nullable
    Retention add(Retention grant) {
        mutex.lock();
        try {
            grants.add(grant);
            if (grants.size() <= most) {
                return null;
            }
            Iterator<Retention> oldest = grants.iterator();
            Retention evicted = oldest.next();
            oldest.remove();
            return evicted;
        } finally {
            mutex.unlock();
        }
    }

    /** Nothing is retained on a store that turned out, once a lazy client had connected, to report no waiters. */
    void warnOnce(LockName name, String store) {
        if (warned.compareAndSet(false, true)) {
            Log.warn(() ->
                    "locks such as '" + name + "' on " + store + " are released, not retained: this store does not"
                            + " report when another client waits; leave retain off, or use another store");
        }
    }

    void remove(Retention grant) {
        mutex.lock();
        try {
            grants.remove(grant);
        } finally {
            mutex.unlock();
        }
    }
}
