package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
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
    private static final long SLACK_NANOS = 1_000_000_000;

    private ZooKeeperStores() {}

    /**
     * Locks on this client, as {@link ZooKeeperOptions#defaults()} say.
     *
     * @param curator started
     * @throws IllegalStateException if the client is not started
     * @throws dev.holdfast.HoldfastException as {@link #on(CuratorFramework, ZooKeeperOptions)}
     */
    public static Store on(CuratorFramework curator) {
        return on(curator, ZooKeeperOptions.defaults());
    }

    /**
     * Locks on this client. They live in its session, and under its namespace; closing the store deletes their nodes and
     * leaves the client to its owner. When the client's connection comes about is not known: it is taken to be asked for
     * at most a second before it stands.
     *
     * @param curator started
     * @param options the rest; the ACLs that the client was made with are not known either, and are named here
     * @throws IllegalStateException if the client is not started
     * @throws dev.holdfast.StoreRefusedException if the servers will not do
     * @throws dev.holdfast.StoreUnavailableException if they do not answer
     */
    public static Store on(CuratorFramework curator, ZooKeeperOptions options) {
        if (curator.getState() != CuratorFrameworkState.STARTED) {
            throw new IllegalStateException("the Curator client must be started, and not closed");
        }
        String namespace = curator.getNamespace();
        OwnTimer time = new OwnTimer();
        LongSupplier aSecondAgo = () -> time.nanoTime() - SLACK_NANOS;
        return new StoreOpener(
                        curator,
                        new Paths(namespace == null || namespace.isEmpty() ? "" : "/" + namespace),
                        options.acls(),
                        options,
                        time,
                        new Errors("zookeeper (the application's client)"),
                        aSecondAgo)
                .open((context, patience) -> {
                    context.heldNodes().removeAll();
                    time.close();
                });
    }
}
