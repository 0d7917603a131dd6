package dev.holdfast.spi.support;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import java.util.function.Consumer;
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
        report(to -> to.lost(grant));
    }

    @Override
    public void suspect(Grant grant) {
        report(to -> to.suspect(grant));
    }

    @Override
    public void wanted(Grant grant) {
        report(to -> to.wanted(grant));
    }

    @Override
    public void unreachable(String name, Throwable why) {
        report(to -> to.unreachable(name, why));
    }

    @Override
    public void reachable() {
        report(to -> to.reachable());
    }

    @Override
    public void reachable(String name) {
        report(to -> to.reachable(name));
    }

    private void report(Consumer<StoreListener> event) {
        StoreListener current = listener;
        if (current != null) {
            event.accept(current);
        }
    }
}
