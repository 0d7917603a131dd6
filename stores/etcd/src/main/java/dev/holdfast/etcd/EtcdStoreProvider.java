package dev.holdfast.etcd;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import io.etcd.jetcd.Client;
import java.util.Optional;
import java.util.Set;

/**
 * Opens locks kept in etcd 3.
 *
 * <ul>
 *   <li>{@code etcd://HOST[:PORT],HOST[:PORT]…[/PREFIX]}, for example {@code etcd://etcd1:2379,etcd2:2379,etcd3:2379}
 *   <li>{@code etcd://USER:PASSWORD@HOST…} logs in; the password may be given beside the URL instead
 *   <li>{@code etcds://…} for TLS, with the certificates the JVM trusts, or those of a file: {@code ?cacert=FILE};
 *       {@code ?cert=FILE&key=FILE} are the client's own
 *   <li>{@code ?timeout=5s}: how long a request may go without an answer; 5 s unless it is given
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class EtcdStoreProvider implements StoreProvider {
    /** The provider; made by {@link java.util.ServiceLoader}. */
    public EtcdStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("etcd", "etcds");
    }

    /**
     * Connects to the servers of a URL.
     *
     * @throws IllegalArgumentException if the URL is malformed; the message says what a good one looks like
     * @throws dev.holdfast.StoreRefusedException if the servers will not do: a wrong user, rights that are missing, keys of
     *     another program, a newer layout
     * @throws dev.holdfast.StoreUnavailableException if no server answers, or none that has a majority
     */
    @Override
    public Store open(String url, StoreContext context) {
        EtcdUrl parsed = EtcdUrl.parse(url, context.password());
        Client client = parsed.connect();
        Errors errors = new Errors(parsed.description());
        return EtcdStore.open(client, parsed.prefix(), context.time(), parsed.timeout(), errors, client::close);
    }

    @Override
    public String describe(String url, StoreContext context) {
        return EtcdUrl.parse(url, context.password()).description();
    }

    /** The fence of {@link EtcdFence}. */
    @Override
    public StoreFence openFence(String url, Optional<String> password) {
        EtcdUrl parsed = EtcdUrl.parse(url, password);
        Client client = parsed.connect();
        return new UrlFence(
                client, new EtcdFence(client, parsed.prefix(), parsed.timeout(), new Errors(parsed.description())));
    }

    /** A fence on a client of its own. */
    private record UrlFence(Client client, EtcdFence fence) implements StoreFence {
        @Override
        public void check(String resource, long token) {
            fence.check(resource, token);
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
