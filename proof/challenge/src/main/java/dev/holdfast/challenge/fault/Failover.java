package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.store.SentinelTarget;
import dev.holdfast.challenge.store.StoreKind;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The master is killed while the link to its only replica is held, and the replica becomes the master; then the old one comes
 * back as its replica.
 *
 * @param heard whether the replica has heard of what is held; what it has not is lost
 */
record Failover(boolean heard) implements Fault {
    /** Locks that a replica must confirm cannot be had meanwhile. */
    private static final Duration ARRIVAL = Duration.ofSeconds(5);

    @Override
    public String id() {
        return heard ? "failover" : "failover-unheard";
    }

    @Override
    public String title() {
        return heard ? "master dies, the replica has the grants" : "master dies, the replica lacks the grants";
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.id().equals("sentinel");
    }

    @Override
    public boolean usesUp() {
        return true;
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        SentinelTarget redis = (SentinelTarget) heat.target();
        long began = System.nanoTime();
        if (heard) {
            Heat.Pinned pinned = heat.pin();
            redis.awaitReplicated();
            redis.holdLink();
            redis.failOver();
            end(heat, redis, pinned.lanes(), began);
        } else {
            List<Lane> free = heat.bar();
            redis.holdLink();
            long held = System.nanoTime();
            Heat.Pinned pinned = heat.pin(ARRIVAL);
            List<Lane> refused = heat.notHadSince(held);
            redis.failOver();
            List<Lane> unused = heat.awaitGrantedTwice(pinned, held);
            List<Lane> bitten = Stream.concat(pinned.lanes().stream(), refused.stream())
                    .filter(free::contains)
                    .toList();
            end(heat, redis, bitten, began);
        }
    }

    private static void end(Heat heat, SentinelTarget redis, List<Lane> bitten, long began) {
        redis.bringBack();
        heat.unpin();
        heat.bitten(heat.lanes(), bitten, Bite.ALL, began);
        heat.probe();
    }
}
