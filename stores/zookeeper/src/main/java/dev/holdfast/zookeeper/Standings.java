package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The grants of this client, by their claims, and what is told of them: lost when the session has ended, the node was
 * deleted or the lock was broken, and in doubt when the connection broke.
 *
 * <p>A broken lock's node stays for one more lease, in which its holder may still believe; then its own client removes it,
 * or whoever broke it, or the end of the session. Thread-safe.
 */
final class Standings {
    private final Map<ClaimId, Standing> all = new ConcurrentHashMap<>();
    /** The paths of those that were broken and are not removed yet. */
    private final Set<String> broken = ConcurrentHashMap.newKeySet();

    private final Removals removals;
    private final TimeSource time;
    private final boolean doubts;
    private volatile @Nullable StoreListener listener;

    /**
     * @param doubts whether a grant is in doubt when the connection breaks; otherwise it stands until its lease ends
     */
    Standings(Removals removals, TimeSource time, boolean doubts) {
        this.removals = removals;
        this.time = time;
        this.doubts = doubts;
    }

    void listen(StoreListener told) {
        listener = told;
    }

    @Nullable
    Standing get(ClaimId id) {
        return all.get(id);
    }

    void add(Standing standing) {
        all.put(standing.grant().id(), standing);
    }

    /** Reports what happened to the session before the grant was added. */
    void check(Standing standing) {
        if (standing.session().hasEnded()) {
            gone(standing);
        } else if (!standing.session().isConnected()) {
            doubt(standing);
        }
    }

    /** Forgets a grant that is released or removed. */
    @Nullable
    Standing remove(ClaimId id) {
        return all.remove(id);
    }

    /** Deletes the nodes of all of them. */
    void removeAll() {
        all.values().forEach(standing -> removals.remove(standing.session(), standing.path()));
        all.clear();
    }

    void suspended(Session session) {
        each(session, this::doubt);
    }

    void ended(Session session) {
        each(session, standing -> {
            gone(standing);
            removals.removeLeft(standing.path());
        });
    }

    /** The node of a grant is gone, and this client did not delete it. */
    void gone(Standing standing) {
        if (all.remove(standing.grant().id(), standing)) {
            tell(told -> told.lost(standing.grant()));
        }
    }

    /** The lock was broken. */
    void broken(Standing standing) {
        String path = standing.path();
        if (all.remove(standing.grant().id(), standing)) {
            broken.add(path);
            time.schedule(
                    () -> removals.remove(standing.session(), path)
                            .whenComplete((removed, failure) -> broken.remove(path)),
                    standing.session().lease());
            tell(told -> told.lost(standing.grant()));
        }
    }

    /** Whether a node is that of a broken lock, and keeps others out until its lease has passed. */
    boolean keepsOut(String path) {
        return broken.contains(path);
    }

    private void doubt(Standing standing) {
        if (doubts) {
            tell(told -> told.suspect(standing.grant()));
        }
    }

    private void each(Session session, Consumer<Standing> what) {
        for (Standing standing : all.values()) {
            if (standing.session() == session) {
                what.accept(standing);
            }
        }
    }

    private void tell(Consumer<StoreListener> what) {
        StoreListener told = listener;
        if (told != null) {
            what.accept(told);
        }
    }
}
