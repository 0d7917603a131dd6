package dev.holdfast.ladder.zookeeper;

import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** Waits only if the node was there when the watch was set. Each release wakes everybody, for one. */
public final class OneNodeLookedAt extends ZooKeeperRung {
    private final Runnable between;

    /** A client of the servers. */
    public OneNodeLookedAt(String servers) {
        this(servers, () -> {});
    }

    /** A client to which something happens between the look and the watch. */
    OneNodeLookedAt(String servers, Runnable between) {
        super(servers);
        this.between = between;
    }

    @Override
    void lockAndWork(String path, Work work) throws KeeperException, InterruptedException {
        // snippet ladderOneNodeLookedAt
        for (boolean mine = false; !mine; ) {
            try {
                make(path, CreateMode.EPHEMERAL);
                mine = true;
            } catch (KeeperException.NodeExistsException taken) {
                between.run();
                CountDownLatch gone = new CountDownLatch(1);
                if (zooKeeper.exists(path, event -> gone.countDown()) != null) {
                    await(gone);
                }
            }
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            zooKeeper.delete(path, -1);
        }
        // end
    }
}
