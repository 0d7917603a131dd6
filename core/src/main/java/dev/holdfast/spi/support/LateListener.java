package dev.holdfast.spi.support;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import org.jspecify.annotations.Nullable;

/**
 * The listener of a store, which is named only when the store is open. A report before that is dropped: there is no
 * claim yet that it could be about. Thread-safe.
 */
public final class LateListener implements StoreListener {
    private volatile @Nullable StoreListener listener;

    /** No listener is named yet. */
    public LateListener() {}

    /** Names it; see {@link dev.holdfast.spi.Store#listen}. */
    public void set(StoreListener to) {
        listener = to;
    }

    @Override
    public void lost(Grant grant) {
        StoreListener current = listener;
        if (current != null) {
            current.lost(grant);
        }
    }

    @Override
    public void suspect(Grant grant) {
        StoreListener current = listener;
        if (current != null) {
            current.suspect(grant);
        }
    }

    @Override
    public void wanted(Grant grant) {
        StoreListener current = listener;
        if (current != null) {
            current.wanted(grant);
        }
    }

    @Override
    public void unreachable(String name, Throwable why) {
        StoreListener current = listener;
        if (current != null) {
            current.unreachable(name, why);
        }
    }

    @Override
    public void reachable() {
        StoreListener current = listener;
        if (current != null) {
            current.reachable();
        }
    }

    @Override
    public void reachable(String name) {
        StoreListener current = listener;
        if (current != null) {
            current.reachable(name);
        }
    }
}
