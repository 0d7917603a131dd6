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
        if (heard) {
            Heat.Pinned pinned = heat.pin();
            redis.awaitReplicated();
            redis.holdLink();
            long began = System.nanoTime();
            redis.failOver();
            redis.bringBack();
            heat.unpin();
            heat.bitten(pinned, pinned.lanes(), Bite.ALL, began);
        } else {
            List<Lane> free = heat.bar();
            redis.holdLink();
            long began = System.nanoTime();
            Heat.Pinned pinned = heat.pin(ARRIVAL);
            List<Lane> refused = heat.notHadSince(began);
            redis.failOver();
            List<Lane> unused = heat.awaitGrantedTwice(pinned, began);
            redis.bringBack();
            heat.unpin();
            List<Lane> bitten = Stream.concat(pinned.lanes().stream(), refused.stream())
                    .filter(free::contains)
                    .toList();
            heat.bitten(bitten, Bite.ALL, began);
        }
        heat.probe();
    }
}
