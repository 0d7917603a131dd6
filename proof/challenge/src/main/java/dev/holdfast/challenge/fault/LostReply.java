package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.store.StoreKind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The server does what it was asked for, and its answer never comes: the connection is reset instead. The request is found
 * by the name of the lock in it.
 *
 * @param request what the worker asked for
 */
record LostReply(Request request) implements Fault {
    private static final Set<String> NAMED_RENEWALS = Set.of("redis", "mariadb", "postgresql", "memcached");

    enum Request {
        /** The first request for a free lock. */
        CLAIM,
        /** The next renewal of a hold: nothing else of its worker names the lock meanwhile. */
        RENEW,
        /** The first request of a worker that was kept in its hold. */
        RELEASE
    }

    @Override
    public String id() {
        return "lost-" + request.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String title() {
        return "reply to a " + request.name().toLowerCase(Locale.ROOT) + " lost";
    }

    @Override
    public boolean isQuick() {
        return request != Request.RENEW;
    }

    /** Renewals of sessions and of leases that several locks share do not name the lock. */
    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied() && (request != Request.RENEW || NAMED_RENEWALS.contains(store.id()));
    }

    /** Other libraries renew late, or never. */
    @Override
    public boolean fits(LockKind lock) {
        return request != Request.RENEW || lock.role() != Role.PEER;
    }

    /** A lost reply takes its connection with it, and what others have under way there. */
    @Override
    public boolean needsOwnClients() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        if (request == Request.CLAIM) {
            int victim = heat.anyone();
            List<Lane> free = heat.bar();
            long began = System.nanoTime();
            Map<Lane, Long> lost = heat.loseReplies(victim, free, () -> heat.admit(victim));
            heat.admitAll();
            heat.bitten(List.copyOf(lost.keySet()), victim, began);
        } else {
            Heat.Pinned pinned = heat.pin();
            long began = System.nanoTime();
            int victim = pinned.victim();
            boolean released = request == Request.RELEASE;
            Map<Lane, Long> lost = heat.loseReplies(victim, pinned.lanes(), released ? heat::unpin : () -> {});
            heat.unpin();
            // The reply to a renewal may be the next one when that to a release is meant.
            lost.entrySet()
                    .removeIf(each -> released
                            ? !each.getKey().wasReleasedBy(victim, each.getValue())
                            : !each.getKey().wasHeldBy(victim, each.getValue()));
            heat.bitten(List.copyOf(lost.keySet()), victim, began);
        }
        heat.probe();
    }
}
