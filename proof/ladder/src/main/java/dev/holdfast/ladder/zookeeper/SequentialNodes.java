package dev.holdfast.ladder.zookeeper;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/**
 * Everybody makes a node, the server numbers them, and each watches the one before. A reply that is lost leaves a node
 * that nobody knows; and a session that has expired is believed in as long as nobody says so.
 */
public final class SequentialNodes extends ZooKeeperRung {
    /** A client of the servers. */
    public SequentialNodes(String servers) {
        super(servers);
    }

    /** A client whose session ends as soon. */
    SequentialNodes(String servers, int sessionMillis) {
        super(servers, sessionMillis);
    }

    @Override
    void lockAndWork(String path, Work work) throws KeeperException, InterruptedException {
        if (zooKeeper.exists(path, false) == null) {
            try {
                make(path, CreateMode.CONTAINER);
            } catch (KeeperException.NodeExistsException raced) {
                // another was first
            }
        }
        // snippet ladderSequentialNodes
        String mine = make(path + "/lock-", CreateMode.EPHEMERAL_SEQUENTIAL);
        while (true) {
            List<String> line =
                    zooKeeper.getChildren(path, false).stream().sorted().toList();
            int place = line.indexOf(mine.substring(path.length() + 1));
            if (place == 0) {
                break;
            }
            CountDownLatch gone = new CountDownLatch(1);
            if (zooKeeper.exists(path + "/" + line.get(place - 1), event -> gone.countDown()) != null) {
                await(gone);
            }
        }
        try {
            work.run(NO_TOKEN);
        } finally {
            zooKeeper.delete(mine, -1);
        }
        // end
    }
}
