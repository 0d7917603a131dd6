package dev.holdfast.etcd;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.PlannedTask;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The grants of this client, by their claims, and the reports that they are lost.
 *
 * <p>The key of a grant that was broken stays for one more lease, during which its holder may still rely on it; then this
 * client removes it, or the one that broke it, or the end of the session. Thread-safe.
 */
final class HeldClaims {
    private static final Runnable NOTHING = () -> {};

    private final Map<ClaimId, Held> all = new ConcurrentHashMap<>();
    /** Those that were broken, and whose keys are not removed yet. */
    private final Set<ClaimId> broken = ConcurrentHashMap.newKeySet();

    private final Releases releases;
    private final TimeSource time;
    private final LateListener listener = new LateListener();

    HeldClaims(Releases releases, TimeSource time) {
        this.releases = releases;
        this.time = time;
    }

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

    /** Whether the key of a grant is among some that were read, unbroken; reports the grant if it is not. */
    boolean isThere(Held held, List<QueuedClaim> read) {
        Optional<QueuedClaim> own = read.stream()
                .filter(claim -> claim.number() == held.grant.number())
                .findFirst();
        if (own.isPresent() && !own.get().isBroken()) {
            return has(held);
        }
        boolean stays = own.isPresent() && has(held) && broken.add(held.grant.id());
        try {
            if (stays) {
                removeLater(held);
            }
        } finally {
            gone(held);
        }
        return false;
    }

    /** The client that broke it may be gone, while this session lives on. */
    private void removeLater(Held held) {
        PlannedTask.surely(time, () -> releases.remove(held, () -> broken.remove(held.grant.id())), held.session.ttl());
    }

    /** Whether a claim's key is that of a grant that was broken, and keeps others out until its lease has passed. */
    boolean keepsOut(ClaimId id) {
        return broken.contains(id);
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
