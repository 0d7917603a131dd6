package dev.holdfast.etcd;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The grants of this client, by their claims, and the reports that they are lost. Thread-safe. */
final class HeldClaims {
    private static final Runnable NOTHING = () -> {};

    private final Map<ClaimId, Held> all = new ConcurrentHashMap<>();
    private final LateListener listener = new LateListener();

    /** A grant that exists, as far as is known here, the session of its key, and what ends the watch for waiters. */
    record Held(Grant grant, Session session, AtomicReference<Runnable> watch) {
        Held(Grant grant, Session session) {
            this(grant, session, new AtomicReference<>(NOTHING));
        }

        /** Another watch takes the place of the one before. */
        void watchedBy(Runnable end) {
            watch.getAndSet(end).run();
        }
    }

    void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    @Nullable
    Held get(ClaimId id) {
        return all.get(id);
    }

    boolean has(Held held) {
        return all.get(held.grant.id()) == held;
    }

    /** A grant; reports at once if its session has ended meanwhile. */
    void add(Held held) {
        all.put(held.grant.id(), held);
        if (held.session.hasEnded()) {
            gone(held);
        }
    }

    /** Forgets a grant that is released or withdrawn; null if there was none. */
    @Nullable
    Held remove(ClaimId id) {
        Held held = all.remove(id);
        if (held != null) {
            held.watchedBy(NOTHING);
        }
        return held;
    }

    /** The key of a grant is gone or was broken, and this client did not do that. */
    void gone(Held held) {
        if (all.remove(held.grant.id(), held)) {
            held.watchedBy(NOTHING);
            listener.lost(held.grant);
        }
    }

    void ended(Session session) {
        all.values().stream().filter(held -> held.session == session).forEach(this::gone);
    }

    boolean need(Session session) {
        return all.values().stream().anyMatch(held -> held.session == session);
    }

    /** Another client waits for the name of a grant. */
    void wanted(Held held) {
        if (has(held)) {
            listener.wanted(held.grant);
        }
    }
}
