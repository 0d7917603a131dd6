package dev.holdfast.internal;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The retained grants of one client, in the order in which they were used last, and no more than so many. Thread-safe. */
final class RetainedGrants {
    /** How many a client retains: each is renewed. */
    static final int MOST = 10_000;

    private final int most;
    private final ReentrantLock mutex = new ReentrantLock();
    private final LinkedHashSet<ExclusiveGrant> grants = new LinkedHashSet<>();

    RetainedGrants(int most) {
        this.most = most;
    }

    /** Adds one that was used just now; returns the one used least recently if they are too many now. */
    @Nullable
    ExclusiveGrant add(ExclusiveGrant grant) {
        mutex.lock();
        try {
            grants.add(grant);
            if (grants.size() <= most) {
                return null;
            }
            Iterator<ExclusiveGrant> oldest = grants.iterator();
            ExclusiveGrant evicted = oldest.next();
            oldest.remove();
            return evicted;
        } finally {
            mutex.unlock();
        }
    }

    void remove(ExclusiveGrant grant) {
        mutex.lock();
        try {
            grants.remove(grant);
        } finally {
            mutex.unlock();
        }
    }
}
