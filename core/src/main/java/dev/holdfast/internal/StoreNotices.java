package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The notices that a store sends by itself, passed on to the grants that they concern. Thread-safe. */
final class StoreNotices implements StoreListener {
    private final EngineContext context;

    StoreNotices(EngineContext context) {
        this.context = context;
    }

    @Override
    public void lost(Grant grant) {
        GrantState live = find(grant, claim -> claim.knownLost = true);
        if (live != null) {
            context.renewer.lose(live, Loss.Cause.SESSION_ENDED);
        }
    }

    @Override
    public void suspect(Grant grant) {
        GrantState live = find(grant, claim -> claim.inDoubt = true);
        if (live != null) {
            context.renewer.doubt(live);
        }
    }

    /** A grant is watched only once its claim's answer was handled, so it is known. */
    @Override
    public void wanted(Grant grant) {
        GrantState live = context.renewer.find(grant);
        if (live != null) {
            live.lock().wanted(live);
        }
    }

    @Override
    public void unreachable(String name, Throwable why) {
        context.reachability.unreachable(name, why);
    }

    @Override
    public void reachable() {
        context.reachability.reachable();
    }

    @Override
    public void reachable(String name) {
        context.reachability.answered(name);
    }

    /** The grant as the renewer knows it; null if its claim's answer is not handled yet; the claim then receives the notice. */
    private @Nullable GrantState find(Grant grant, Consumer<ClaimInFlight> notice) {
        GrantState live = context.renewer.find(grant);
        WaitQueue queue =
                live == null ? context.locks.find(grant.name(), grant.mode().kind()) : null;
        if (queue == null) {
            return live;
        }
        queue.onStoreNotice(grant.id(), notice);
        return context.renewer.find(grant); // the answer may have been handled meanwhile
    }
}
