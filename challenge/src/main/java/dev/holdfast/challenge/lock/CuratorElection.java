package dev.holdfast.challenge.lock;

import dev.holdfast.spi.Mode;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's leader latch, asked whether it leads: a turn is a latch of its own. */
final class CuratorElection implements AttackedLock {
    private static final int FIRST_PAUSE_MILLIS = 100;
    private static final int RETRIES = 3;

    private final CuratorFramework client;
    private final String path;

    CuratorElection(String url, String name) {
        client = CuratorFrameworkFactory.newClient(
                url.substring("zk://".length()), new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, RETRIES));
        client.start();
        path = "/curator/" + name;
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try (LeaderLatch latch = new LeaderLatch(client, path)) {
            latch.start();
            latch.await();
            work.run(new Leading(latch));
            return latch.hasLeadership() ? Result.DONE : Result.LOST;
        }
    }

    private record Leading(LeaderLatch latch) implements Grip {
        @Override
        public long token() {
            return 0;
        }

        @Override
        public boolean isValid() {
            return latch.hasLeadership();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
