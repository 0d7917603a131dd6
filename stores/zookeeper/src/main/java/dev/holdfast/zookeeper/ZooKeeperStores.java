package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import java.util.function.LongSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;

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
     * Locks on this client. They live in its session, and under its namespace; closing the store deletes their nodes and
     * leaves the client to its owner. The time at which the client's connection was requested is not known: the store
     * assumes at most a second before it was open.
     *
     * @param curator started
     * @param options the rest; the ACLs that the client was made with are not known either, and are named here
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
        return StoreFactory.named(DESCRIPTION, context -> open(curator, paths, options, context.time()));
    }

    private static Store open(CuratorFramework curator, Paths paths, ZooKeeperOptions options, TimeSource time) {
        LongSupplier aSecondAgo = () -> time.nanoTime() - SLACK_NANOS;
        return new StoreOpener(curator, paths, options.acls(), options, time, new Errors(DESCRIPTION), aSecondAgo)
                .open((opened, limit) -> opened.heldNodes().removeAll());
    }
}
