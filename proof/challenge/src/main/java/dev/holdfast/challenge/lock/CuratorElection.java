package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;

/** Curator's leader latch, asked whether it leads: a turn is a latch of its own. */
final class CuratorElection implements AttackedLock {
    private final CuratorFramework client;
    private final String path;

    CuratorElection(Place place) throws Exception {
        client = Curators.at(place);
        path = "/curator/" + place.name();
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try (LeaderLatch latch = new LeaderLatch(client, path)) {
            latch.start();
            latch.await();
            work.run(new Grip(0, 0, latch::hasLeadership));
            return latch.hasLeadership() ? Result.DONE : Result.LOST;
        }
    }
}
