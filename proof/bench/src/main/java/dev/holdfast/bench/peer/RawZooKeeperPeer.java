package dev.holdfast.bench.peer;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** One ephemeral node, created and deleted: what ZooKeeper itself costs. */
final class RawZooKeeperPeer implements Peer {
    private static final int SESSION_MILLIS = 30_000;
    private static final byte[] NOTHING = {};
    private static final int ANY_VERSION = -1;

    private final ZooKeeper client;

    RawZooKeeperPeer(String url) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        client = new ZooKeeper(ZooKeeperUrl.servers(url), SESSION_MILLIS, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
            client.close();
            throw new IllegalStateException("no connection to ZooKeeper");
        }
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new OneLock(client, "/raw-" + name);
    }

    @Override
    public void close() throws InterruptedException {
        client.close();
    }

    private record OneLock(ZooKeeper zooKeeper, String path) implements PeerLock {
        @Override
        public void acquire() throws KeeperException, InterruptedException {
            RetryLoop.<KeeperException>until(this::take);
        }

        @Override
        public boolean tryAcquire(Duration patience) throws KeeperException, InterruptedException {
            return RetryLoop.<KeeperException>within(patience, this::take);
        }

        private boolean take() throws KeeperException {
            try {
                zooKeeper.create(path, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                return true;
            } catch (NodeExistsException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        @Override
        public void release() throws KeeperException, InterruptedException {
            zooKeeper.delete(path, ANY_VERSION);
        }
    }
}
