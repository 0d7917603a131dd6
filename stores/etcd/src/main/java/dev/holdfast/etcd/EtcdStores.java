package dev.holdfast.etcd;

import dev.holdfast.spi.StoreFactory;
import io.etcd.jetcd.Client;

/**
 * Locks on a jetcd client that the application has made: its servers, log-in, namespace and TLS.
 *
 * <pre>{@code
 * Client etcd = Client.builder().endpoints("http://etcd1:2379", "http://etcd2:2379", "http://etcd3:2379").build();
 * try (LockClient client = LockClient.builder(EtcdStores.on(etcd)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 */
public final class EtcdStores {
    private static final String DESCRIPTION = "etcd (the application's client)";

    private EtcdStores() {}

    /**
     * Locks on this client, with keys that begin with {@code /holdfast/}. Closing the store ends its leases and leaves the
     * client to its owner.
     *
     * @param client open
     * @return the store to be; {@code build()} opens it, and throws {@link dev.holdfast.StoreRefusedException} if the
     *     servers will not do, and {@link dev.holdfast.StoreUnavailableException} if they do not answer
     */
    public static StoreFactory on(Client client) {
        return on(client, "");
    }

    /**
     * Locks on this client, under a prefix.
     *
     * @param client open
     * @param prefix of all keys, such as {@code /app}
     * @return as {@link #on(Client)}
     */
    public static StoreFactory on(Client client, String prefix) {
        return StoreFactory.named(
                DESCRIPTION,
                context -> EtcdStore.open(
                        client, prefix, context.time(), EtcdUrl.TIMEOUT, new Errors(DESCRIPTION), () -> {}));
    }
}
