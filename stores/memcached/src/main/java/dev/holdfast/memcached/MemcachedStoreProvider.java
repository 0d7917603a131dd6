package dev.holdfast.memcached;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreProvider;
import java.util.Set;

/**
 * Opens locks kept in Memcached.
 *
 * <ul>
 *   <li>{@code memcached://HOST[:PORT]}, for example {@code memcached://cache1:11211}
 *   <li>{@code memcached://HOST[:PORT],HOST[:PORT]…}: each lock is kept by one of the servers, chosen by a hash of its name;
 *       all clients must name the same servers in the same order
 *   <li>{@code ?timeout=5s}: how long a command may go without an answer; 5 s unless it is given
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class MemcachedStoreProvider implements StoreProvider {
    /** The provider; made by {@link java.util.ServiceLoader}. */
    public MemcachedStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("memcached");
    }

    /**
     * Connects to the servers of a URL.
     *
     * @throws IllegalArgumentException if the URL is malformed; the message says what a good one looks like
     * @throws dev.holdfast.StoreRefusedException if a server is not Memcached
     * @throws dev.holdfast.StoreUnavailableException if no server answers
     */
    @Override
    public Store open(String url, StoreContext context) {
        return MemcachedStores.open(MemcachedUrl.parse(url), context, MemcachedStore.SHORTEST_LEASE);
    }

    @Override
    public String describe(String url, StoreContext context) {
        return MemcachedUrl.parse(url).description();
    }
}
