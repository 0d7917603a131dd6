package dev.holdfast.spi.support;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The listener of a store, which is named only when the store is open. A report before that is dropped: there is no
 * claim yet that it could be about. Whatever a report throws, an Error too, is logged: the store reports from the middle
 * of its own work, and others wait for the rest of that. Thread-safe.
 */
public final class LateListener implements StoreListener {
    private static final Logger LOG = System.getLogger(LateListener.class.getName());

    private volatile @Nullable StoreListener listener;

    /** No listener is named yet. */
    public LateListener() {}

    /** Names it; see {@link dev.holdfast.spi.Store#listen}. */
    public void set(StoreListener to) {
        listener = to;
    }

    @Override
    public void lost(Grant grant) {
        report("the loss of '" + grant.name() + "'", to -> to.lost(grant));
    }

    @Override
    public void suspect(Grant grant) {
        report("a doubt about '" + grant.name() + "'", to -> to.suspect(grant));
    }

    @Override
    public void wanted(Grant grant) {
        report("a claim that waits for '" + grant.name() + "'", to -> to.wanted(grant));
    }

    @Override
    public void unreachable(String name, Throwable why) {
        report("a failed request for '" + name + "'", to -> to.unreachable(name, why));
    }

    @Override
    public void reachable() {
        report("the end of an outage", to -> to.reachable());
    }

    @Override
    public void reachable(String name) {
        report("the end of an outage for '" + name + "'", to -> to.reachable(name));
    }

    private void report(String what, Consumer<StoreListener> event) {
        StoreListener current = listener;
        if (current == null) {
            return;
        }
        try {
            event.accept(current);
        } catch (Throwable ofListener) {
            SafeLog.log(LOG, Level.WARNING, "a listener failed at a report: " + what, ofListener);
        }
    }
}
