package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreProvider;
import java.util.Set;

/**
 * Opens locks kept in a table of a SQL server: {@code jdbc:postgresql://HOST[:PORT]/DATABASE}, {@code jdbc:mariadb://…},
 * {@code jdbc:mysql://…}, {@code jdbc:h2:…}. The driver's parameters go with it, and ours, which it does not see: {@link
 * JdbcOptions}. The driver must be on the class path.
 *
 * <p>SQLite is a store of its own, {@code holdfast-sqlite}, with URLs such as {@code sqlite:locks.db}.
 *
 * <p>Thread-safe.
 */
public final class JdbcStoreProvider implements StoreProvider {
    /** The provider; made by {@link java.util.ServiceLoader}. */
    public JdbcStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    /**
     * Opens the store of a URL.
     *
     * @throws IllegalArgumentException if the URL names no database that is supported; the message says what a good one
     *     looks like
     * @throws dev.holdfast.StoreRefusedException if the database cannot be used: rights, a newer layout, a proxy that pools
     *     transactions
     * @throws dev.holdfast.StoreUnavailableException if the server does not answer
     */
    @Override
    public Store open(String url, StoreContext context) {
        return open(
                ServerUrl.parse(url)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "no such database is supported for locks; supported: " + ServerUrl.GOOD_URLS)),
                context);
    }

    private static Store open(ServerUrl url, StoreContext context) {
        return ServerStore.open(
                url.dialect(),
                url.options(),
                new DriverConnections(url, context.password()),
                url.description(),
                context.time()::nanoTime,
                false);
    }
}
