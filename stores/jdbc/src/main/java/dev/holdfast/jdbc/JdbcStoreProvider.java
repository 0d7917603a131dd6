package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import java.util.Optional;
import java.util.Set;

/**
 * Opens locks kept in a table of a SQL server: {@code jdbc:postgresql://HOST[:PORT]/DATABASE}, {@code jdbc:mariadb://…},
 * {@code jdbc:mysql://…}, {@code jdbc:h2:…}. The URL may contain the driver's parameters, and those of {@link
 * JdbcOptions}, which are removed before the driver gets the URL. The driver must be on the class path.
 *
 * <p>With {@code mode=session}, locks end with a session of PostgreSQL, MariaDB or MySQL rather than with a lease:
 * {@code jdbc:postgresql://db/shop?user=app&mode=session}. They are exclusive.
 *
 * <p>With {@code holdfast.unlogged=true}, PostgreSQL keeps the rows in an UNLOGGED table, and no lock waits for the disk;
 * see {@link JdbcOptions#unlogged(boolean)} for the price.
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
        return open(parse(url), context);
    }

    /** Also refuses a URL for which no driver is on the class path. */
    @Override
    public String describe(String url, StoreContext context) {
        ServerUrl parsed = parse(url);
        new DriverConnections(parsed, context.password());
        return parsed.description();
    }

    /** A fence in the table {@code holdfast_fence}, as {@link JdbcFence#inTable} has it; made unless it is there. */
    @Override
    public StoreFence openFence(String url, Optional<String> password) {
        return UrlFence.on(parse(url), password);
    }

    private static ServerUrl parse(String url) {
        return ServerUrl.parse(url)
                .orElseThrow(() -> new IllegalArgumentException(
                        "no such database is supported for locks; supported: " + ServerUrl.GOOD_URLS));
    }

    private static Store open(ServerUrl url, StoreContext context) {
        if (url.sessions()) {
            return SessionStore.open(new SessionOpener(
                    url.dialect(),
                    url.options(),
                    new DriverConnections(url, context.password()),
                    url.description(),
                    context.time(),
                    context.session().orElse(SessionStore.SESSION)));
        }
        return ServerStore.open(
                url.dialect(),
                url.options(),
                new DriverConnections(url, context.password()),
                url.description(),
                context.time(),
                false);
    }
}
