package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.testbed.ReplyDrop;
import java.util.List;
import java.util.Locale;
import java.util.Map;

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

    @Override
    public void bite(Heat heat) {
        if (request == Request.RELEASE) {
            Heat.Pinned pinned = heat.pin();
            Map<Lane, ReplyDrop> drops = heat.dropReplies(pinned.victim(), pinned.lanes());
            long began = System.nanoTime();
            heat.unpin();
            end(heat, pinned.lanes(), drops, pinned.victim(), began);
        } else {
            List<Lane> lanes = heat.bar();
            int victim = heat.anyone();
            Map<Lane, ReplyDrop> drops = heat.dropReplies(victim, lanes);
            long began = System.nanoTime();
            heat.admitAlone(victim);
            end(heat, lanes, drops, victim, began);
        }
    }

    private static void end(Heat heat, List<Lane> lanes, Map<Lane, ReplyDrop> drops, int victim, long began) {
        heat.awaitDrops(drops);
        drops.values().forEach(ReplyDrop::cancel);
        heat.admitAll();
        List<Lane> bitten = drops.entrySet().stream()
                .filter(drop -> drop.getValue().hasBitten())
                .map(Map.Entry::getKey)
                .toList();
        heat.bitten(lanes, bitten, victim, began);
        heat.probe();
    }
}
