package dev.holdfast.ladder.zookeeper;

import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** Who makes the node has the lock; the others watch it. If it goes before it is watched, nobody is ever called. */
public final class OneNode extends ZooKeeperRung {
    private final Runnable between;

    /** A client of the servers. */
    public OneNode(String servers) {
        this(servers, () -> {});
    }

    /** A client to which something happens between the look and the watch. */
    public OneNode(String servers, Runnable between) {
        super(servers);
        this.between = between;
    }

    @Override
    void lockAndWork(String path, Work work) throws KeeperException, InterruptedException {
        // snippet ladderOneNode
        for (boolean mine = false; !mine; ) {
            try {
                make(path, CreateMode.EPHEMERAL);
                mine = true;
            } catch (KeeperException.NodeExistsException taken) {
                between.run();
                CountDownLatch gone = new CountDownLatch(1);
                zooKeeper.exists(path, event -> gone.countDown());
                await(gone);
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
