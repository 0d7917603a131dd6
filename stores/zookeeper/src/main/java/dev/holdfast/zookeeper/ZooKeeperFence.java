package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.HoldfastException;
import dev.holdfast.StaleTokenException;
import dev.holdfast.spi.support.StoredToken;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/**
 * A fence in ZooKeeper: admits work whose token is at least as high as every token seen before for the same resource. It
 * guards data that lives in ZooKeeper, or anything that can be reached only through a check there.
 *
 * <pre>{@code
 * ZooKeeperFence fence = ZooKeeperFence.on(curator);
 * try (Hold hold = client.lock("config").acquire()) {
 *     fence.check("config", hold.token());        // StaleTokenException once a later hold was here
 *     curator.setData().forPath("/config", data);
 * }
 * }</pre>
 *
 * <p>For exclusive holds only. The check reads the highest token and writes a higher one only over what it read; what
 * follows it is a step of its own, and a later holder may come in between. The highest token stays for ever under
 * {@code /holdfast/fences} and the resource's name: a fence that forgets protects nothing. Thread-safe.
 */
public final class ZooKeeperFence {
    private static final Errors ERRORS = new Errors("the ZooKeeper of the fence");

    private final CuratorFramework curator;
    private final Paths paths = new Paths("");

    private ZooKeeperFence(CuratorFramework curator) {
        this.curator = curator;
    }

    /** A fence that remembers in the servers, and under the namespace, of this client, which stays the caller's. */
    public static ZooKeeperFence on(CuratorFramework curator) {
        return new ZooKeeperFence(curator);
    }

    /**
     * Admits a token; waits for the servers' answer, as long as the client's retry policy and time-outs allow.
     *
     * @param resource what is guarded; usually the name of the lock
     * @param token of the hold under which the work is done, not negative
     * @throws StaleTokenException if a higher one was admitted before
     * @throws IllegalArgumentException if the token is negative
     * @throws dev.holdfast.StoreUnavailableException if the servers did not answer, or the thread was interrupted, as
     *     its flag then says; the token may have been admitted
     * @throws dev.holdfast.StoreRefusedException if they refused, because a right is missing or the node holds
     *     something else
     */
    public void check(String resource, long token) {
        if (token < 0) {
            throw new IllegalArgumentException("a token is not negative: " + token);
        }
        String path = paths.fence(resource);
        try {
            while (!admitted(resource, path, token)) {
                // another client wrote meanwhile: read it
            }
        } catch (HoldfastException e) {
            throw e;
        } catch (KeeperException e) {
            throw ERRORS.of(e.code(), path);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ERRORS.unavailable("was not waited for: the thread was interrupted", e);
        } catch (Exception e) {
            throw ERRORS.unavailable("could not be asked: " + e.getMessage(), e);
        }
    }

    private boolean admitted(String resource, String path, long token) throws Exception {
        Stat stat = new Stat();
        byte[] written = Long.toString(token).getBytes(UTF_8);
        try {
            curator.sync().forPath(path); // a server that lags behind would have it read again and again
            long highest = parse(curator.getData().storingStatIn(stat).forPath(path), path);
            if (highest > token) {
                throw new StaleTokenException(resource, token, highest);
            }
            if (highest < token) {
                curator.setData().withVersion(stat.getVersion()).forPath(path, written);
            } else {
                confirm(path, stat.getVersion());
            }
            return true;
        } catch (KeeperException.NoNodeException absent) {
            return made(path, written);
        } catch (KeeperException.BadVersionException raced) {
            return false;
        }
    }

    /**
     * The value that was read may be of a leader that the others have left: only a write is agreed on by a majority.
     */
    private void confirm(String path, int version) throws Exception {
        curator.transaction()
                .forOperations(
                        curator.transactionOp().check().withVersion(version).forPath(path));
    }

    private boolean made(String path, byte[] written) throws Exception {
        try {
            curator.create().forPath(path, written);
            return true;
        } catch (KeeperException.NodeExistsException raced) {
            return false;
        } catch (KeeperException.NoNodeException first) {
            makeOnce(paths.root(), Layout.SAYS);
            makeOnce(paths.fences(), "");
            return false;
        }
    }

    private void makeOnce(String path, String text) throws Exception {
        try {
            curator.create().creatingParentsIfNeeded().forPath(path, text.getBytes(UTF_8));
        } catch (KeeperException.NodeExistsException there) {
            // by a store, or by another fence
        }
    }

    private static long parse(byte[] data, String path) {
        return StoredToken.of(new String(data, UTF_8))
                .orElseThrow(() -> ERRORS.refused(StoredToken.foreign("node is " + path), null));
    }
}
