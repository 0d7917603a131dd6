package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.store.StoreKind;
import java.util.List;
import java.util.Locale;

/**
 * The server does what it was asked for, and its answer never comes: the connection is reset instead. The request is found
 * by the name of the lock in it.
 *
 * @param request what the worker asked for
 */
record LostReply(Request request) implements Fault {
    enum Request {
        /** The first request for a free lock. */
        CLAIM,
        /** The first request of a worker that was kept in its hold. */
        RELEASE
    }

    @Override
    public String id() {
        return "lost-" + request.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String title() {
        return "reply to the " + request.name().toLowerCase(Locale.ROOT) + " lost";
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied();
    }

    /** A lost reply takes its connection with it, and what others have under way there. */
    @Override
    public boolean needsOwnClients() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        long began = System.nanoTime();
        if (request == Request.RELEASE) {
            Heat.Pinned pinned = heat.pin();
            List<Lane> bitten = heat.loseReplies(pinned.victim(), pinned.lanes(), heat::unpin);
            heat.bitten(pinned.lanes(), bitten, pinned.victim(), began);
        } else {
            int victim = heat.anyone();
            List<Lane> free = heat.bar();
            List<Lane> bitten = heat.loseReplies(victim, free, () -> heat.admit(victim));
            heat.admitAll();
            heat.bitten(free, bitten, victim, began);
        }
        heat.probe();
    }
}
