package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.imps.CuratorFrameworkBase;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * Locks on a Curator client that the application has made: its servers, session, log-in, namespace, ACLs and TLS.
 *
 * <pre>{@code
 * CuratorFramework curator = CuratorFrameworkFactory.newClient("zoo1:2181,zoo2:2181", new RetryForever(500));
 * curator.start();
 * try (LockClient client = LockClient.builder(ZooKeeperStores.on(curator)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 */
public final class ZooKeeperStores {
    private static final String DESCRIPTION = "zookeeper (the application's client)";
    private static final long SLACK_NANOS = 1_000_000_000;
    /** How long ago a client that was lent may have been connected. */
    private static final long LONG_NANOS = Duration.ofDays(1).toNanos();

    private ZooKeeperStores() {}

    /**
     * Locks on this client, as {@link ZooKeeperOptions#defaults()} say.
     *
     * @param curator started
     * @return as {@link #on(CuratorFramework, ZooKeeperOptions)}
     * @throws IllegalStateException if the client is not started
     */
    public static StoreFactory on(CuratorFramework curator) {
        return on(curator, ZooKeeperOptions.defaults());
    }

    /**
     * Locks on this client. They live in its session, and under its namespace, also that of
     * {@link CuratorFramework#usingNamespace}; closing the store deletes their nodes and leaves the client to its owner. The
     * time at which the client's connection was requested is not known: the store assumes at most a second before it was
     * open.
     *
     * @param curator started
     * @param options the rest
     * @return the store to be; {@code build()} opens it, and throws {@link dev.holdfast.StoreRefusedException} if the
     *     servers will not do, and {@link dev.holdfast.StoreUnavailableException} if they do not answer
     * @throws IllegalStateException if the client is not started
     */
    public static StoreFactory on(CuratorFramework curator, ZooKeeperOptions options) {
        if (curator.getState() != CuratorFrameworkState.STARTED) {
            throw new IllegalStateException("the Curator client must be started, and not closed");
        }
        String namespace = curator.getNamespace();
        Paths paths = new Paths(namespace == null || namespace.isEmpty() ? "" : "/" + namespace);
        ACLProvider acls = options.acls().orElseGet(() -> new LentAcls(curator.usingNamespace(null)));
        CuratorFramework client = withoutView(curator);
        return StoreFactory.named(DESCRIPTION, context -> open(client, paths, acls, options, context.time()));
    }

    /**
     * The client itself: a view of it, which {@code usingNamespace} gives, does not report the connection.
     *
     * @throws IllegalArgumentException if Curator is too old to say which client a view is of
     */
    private static CuratorFramework withoutView(CuratorFramework curator) {
        CuratorFramework client = curator;
        try {
            client = curator instanceof CuratorFrameworkBase known ? known.client() : curator;
        } catch (LinkageError older) {
            // Curator before 5.9
        }
        try {
            client.getCuratorListenable();
        } catch (UnsupportedOperationException view) {
            throw new IllegalArgumentException(
                    "this Curator client is a view by usingNamespace, and this version of Curator does not say of which"
                            + " client: build the client with that namespace, or use Curator 5.9 or later",
                    view);
        }
        return client;
    }

    private static Store open(
            CuratorFramework curator, Paths paths, ACLProvider acls, ZooKeeperOptions options, TimeSource time) {
        ElapsedTime elapsed = ElapsedTime.of(time);
        AtomicBoolean atUnknownTime =
                new AtomicBoolean(curator.getZookeeperClient().isConnected());
        Supplier<Moment> attemptedAt =
                () -> elapsed.now().minus(atUnknownTime.getAndSet(false) ? LONG_NANOS : SLACK_NANOS);
        return new StoreOpener(curator, paths, acls, options, elapsed, new Errors(DESCRIPTION), attemptedAt)
                .open((opened, limit) -> opened.heldNodes().removeAll());
    }

    /**
     * The rights that a lent client gives to the nodes that it makes. It has no method that says so, but what it would send
     * for a new node contains them.
     *
     * @param curator with paths as they are
     */
    private record LentAcls(CuratorFramework curator) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return getAclForPath("/");
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            try {
                Op creation = curator.transactionOp().create().forPath(path).get();
                return ((CreateRequest) creation.toRequestRecord()).getAcl();
            } catch (RuntimeException failed) {
                throw failed;
            } catch (Exception failed) {
                throw new IllegalStateException("the Curator client does not say who may use " + path, failed);
            }
        }
    }
}
