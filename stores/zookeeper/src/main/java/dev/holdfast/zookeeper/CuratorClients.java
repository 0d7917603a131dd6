package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Curator's client of a store that was opened by a URL. It notes when a connection is tried, so that a session is never
 * taken for younger than it is.
 *
 * @param curator started
 * @param attempted when a connection was tried last
 * @param acls the rights to the nodes that are made: all for the user that the URL names, or for everyone
 */
record CuratorClients(CuratorFramework curator, AtomicReference<Moment> attempted, ACLProvider acls) {
    private static final int RETRY_MILLIS = 500;
    private static final long POLL_NANOS = 1_000_000;

    static CuratorClients start(ZooKeeperUrl url, ElapsedTime elapsed) {
        AtomicReference<Moment> attempted = new AtomicReference<>(elapsed.now());
        ACLProvider acls = acls(url);
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(url.connectString())
                .sessionTimeoutMs(Math.toIntExact(url.sessionToAsk().toMillis()))
                .connectionTimeoutMs(Math.toIntExact(url.options().timeout().toMillis()))
                .retryPolicy(new RetryForever(RETRY_MILLIS)) // for Curator's own requests, of which Holdfast makes none
                .ensembleTracker(false) // the servers are those the URL names, also behind a proxy
                .zookeeperFactory(new Noting(attempted, elapsed))
                .aclProvider(acls);
        url.config().ifPresent(builder::zkClientConfig);
        url.user().ifPresent(user -> builder.authorization("digest", user.getBytes(UTF_8)));
        CuratorFramework curator = builder.build();
        curator.start();
        return new CuratorClients(curator, attempted, acls);
    }

    static ACLProvider acls(ZooKeeperUrl url) {
        return new SameForAll(url.user().isPresent() ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    /** The time-out that the servers gave; zero if it is no longer known. */
    Duration sessionTimeout() {
        return Duration.ofMillis(Math.max(0, curator.getZookeeperClient().getLastNegotiatedSessionTimeoutMs()));
    }

    /**
     * Ends the session, so that its nodes go at once. The session has ended when its handle is closed; the client library
     * sleeps for a tenth of a second after that, which is left to a thread that outlives this.
     *
     * @param limit how long to wait for the end of the session; servers that do not answer are left to that thread
     */
    void close(Duration limit) {
        ZooKeeper handle = handle();
        Thread closing = DaemonThreads.daemon("holdfast-zookeeper-close", curator::close);
        try {
            closing.start();
        } catch (Error noThread) {
            curator.close();
            return;
        }
        boolean interrupted = false;
        long end = System.nanoTime() + limit.toNanos();
        do {
            LockSupport.parkNanos(closing, POLL_NANOS);
            interrupted |= Thread.interrupted(); // a session that is left open keeps its grants
        } while (closing.isAlive() && isOpen(handle) && end - System.nanoTime() > 0);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isOpen(@Nullable ZooKeeper handle) {
        return handle == null || handle.getState().isAlive();
    }

    /** The handle of the session; null if there is none. */
    private @Nullable ZooKeeper handle() {
        try {
            return curator.getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            return null; // an earlier failure
        }
    }

    private record SameForAll(List<ACL> acl) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return acl;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return acl;
        }
    }

    private record Noting(AtomicReference<Moment> attempted, ElapsedTime elapsed) implements ZookeeperFactory {
        @Override
        public ZooKeeper newZooKeeper(String connectString, int sessionTimeout, Watcher watcher, boolean readOnly)
                throws Exception {
            return newZooKeeper(connectString, sessionTimeout, watcher, readOnly, new ZKClientConfig());
        }

        @Override
        public ZooKeeper newZooKeeper(
                String connectString, int sessionTimeout, Watcher watcher, boolean readOnly, ZKClientConfig config)
                throws Exception {
            HostProvider hosts = new StaticHostProvider(new ConnectStringParser(connectString).getServerAddresses());
            return new ZooKeeper(
                    connectString,
                    sessionTimeout,
                    watcher,
                    readOnly,
                    new NotingHosts(hosts, attempted, elapsed),
                    config == null ? new ZKClientConfig() : config);
        }
    }

    /** Asked for a server right before each try to connect. */
    private record NotingHosts(HostProvider hosts, AtomicReference<Moment> attempted, ElapsedTime elapsed)
            implements HostProvider {
        @Override
        public InetSocketAddress next(long spinDelay) {
            InetSocketAddress next = hosts.next(spinDelay);
            attempted.set(elapsed.now());
            return next;
        }

        @Override
        public int size() {
            return hosts.size();
        }

        @Override
        public void onConnected() {
            hosts.onConnected();
        }

        @Override
        public boolean updateServerList(Collection<InetSocketAddress> servers, InetSocketAddress current) {
            return hosts.updateServerList(servers, current);
        }
    }
}
