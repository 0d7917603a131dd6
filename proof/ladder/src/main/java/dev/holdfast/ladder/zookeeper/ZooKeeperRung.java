package dev.holdfast.ladder.zookeeper;

import dev.holdfast.ladder.Rung;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** What all rungs in ZooKeeper have: a session, and how often they were woken. The names of locks are nodes. */
abstract class ZooKeeperRung implements Rung {
    /** A textbook says nothing of it; the servers of the tests allow no longer one. */
    private static final int SESSION_MILLIS = 6_000;

    final ZooKeeper zooKeeper;
    private final AtomicInteger wakeUps = new AtomicInteger();

    ZooKeeperRung(String servers) {
        this(servers, SESSION_MILLIS);
    }

    ZooKeeperRung(String servers, int sessionMillis) {
        CountDownLatch connected = new CountDownLatch(1);
        try {
            zooKeeper = new ZooKeeper(servers, sessionMillis, event -> {
                if (event.getState() == KeeperState.SyncConnected) {
                    connected.countDown();
                }
            });
            connected.await();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How often this client was woken to see whether it is its turn. */
    final int wakeUps() {
        return wakeUps.get();
    }

    final void await(CountDownLatch gone) throws InterruptedException {
        gone.await();
        wakeUps.incrementAndGet();
    }

    /** Makes a node, as everybody does who has read that a broken connection is tried again. */
    final String make(String path, CreateMode mode) throws KeeperException, InterruptedException {
        while (true) {
            try {
                return zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
            } catch (KeeperException.ConnectionLossException again) {
                // the client library connects by itself
            }
        }
    }

    @Override
    public final boolean run(String name, Work work) {
        try {
            lockAndWork("/" + name, work);
            return true;
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    abstract void lockAndWork(String path, Work work) throws KeeperException, InterruptedException;

    @Override
    public final void close() {
        try {
            zooKeeper.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
