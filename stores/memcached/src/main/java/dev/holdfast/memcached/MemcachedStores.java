package dev.holdfast.memcached;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.support.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.protocol.ascii.AsciiMemcachedNodeImpl;

/**
 * Locks on a client of spymemcached that the application has made.
 *
 * <pre>{@code
 * MemcachedClient memcached = new MemcachedClient(new InetSocketAddress("cache1", 11211));
 * try (LockClient client = LockClient.builder(MemcachedStores.on(memcached)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 */
public final class MemcachedStores {
    private static final String DESCRIPTION = "memcached (the application's client)";
    private static final long LONGEST_RECONNECT_DELAY_SECONDS = 1;
    /** For spymemcached, two are the first: by default it keeps a silent connection for a thousand commands. */
    private static final int AT_THE_FIRST_TIMEOUT = 2;

    private MemcachedStores() {}

    /**
     * Locks on this client, which has one server and speaks the text protocol. Closing the store leaves the client to its
     * owner.
     *
     * <p>A client of several servers is refused: it may be set to use another server while one is away, and there the same
     * lock would be free. Name several servers by a URL.
     *
     * <p>Make it with {@code setOpQueueMaxBlockTime(0)}. Otherwise, when its queue is full, each command blocks the thread
     * that sends it for up to 10 s: the caller, the timer of the locks, or the client's own thread, on which all answers
     * come. With {@code setTimeoutExceptionThreshold(2)} it replaces a connection on which nothing comes back after the first
     * command; by default after a thousand. A client does not tell how it was made.
     *
     * @param client not shut down
     * @return the store to be; {@code build()} opens it, and throws {@link dev.holdfast.StoreRefusedException} if the
     *     client or its server will not do, and {@link StoreUnavailableException} if that does not answer
     */
    public static StoreFactory on(MemcachedClient client) {
        return StoreFactory.named(DESCRIPTION, context -> {
            Errors errors = new Errors(DESCRIPTION);
            Collection<MemcachedNode> servers =
                    client.getConnection().getLocator().getAll();
            if (servers.size() != 1) {
                throw errors.refused("names " + servers.size() + " servers: name them by a memcached: URL", null);
            }
            MemcachedNode server = servers.iterator().next();
            if (!(server instanceof AsciiMemcachedNodeImpl)) {
                throw errors.refused("speaks the binary protocol: make it with Protocol.TEXT", null);
            }
            SocketRequests.greet(List.of(server.getSocketAddress()), MemcachedUrl.TIMEOUT, errors);
            return new MemcachedStore(
                    client.getConnection(),
                    context.time(),
                    MemcachedUrl.TIMEOUT,
                    MemcachedStore.SHORTEST_LEASE,
                    errors,
                    () -> {});
        });
    }

    /** A store on a client of its own. */
    static Store open(MemcachedUrl url, StoreContext context, Duration shortestLease) {
        Errors errors = new Errors(url.description());
        List<InetSocketAddress> servers = url.addresses();
        for (InetSocketAddress server : servers) { // spymemcached would fail by another one, and keep its selector open
            if (server.isUnresolved()) {
                throw errors.unavailable(
                        "names a host without an address, " + server.getHostString() + ": correct the URL, or the DNS",
                        null);
            }
        }
        SocketRequests.greet(servers, url.timeout(), errors);
        try {
            MemcachedClient client = new MemcachedClient(
                    new ConnectionFactoryBuilder()
                            .setDaemon(true)
                            .setFailureMode(FailureMode.Cancel)
                            .setMaxReconnectDelay(LONGEST_RECONNECT_DELAY_SECONDS)
                            .setTimeoutExceptionThreshold(AT_THE_FIRST_TIMEOUT)
                            .setOpTimeout(url.timeout().toMillis())
                            .setOpQueueMaxBlockTime(0)
                            .setOpQueueFactory(LinkedBlockingQueue::new)
                            .setReadOpQueueFactory(LinkedBlockingQueue::new)
                            .setWriteOpQueueFactory(LinkedBlockingQueue::new)
                            .setShouldOptimize(false)
                            .setUseNagleAlgorithm(false)
                            .build(),
                    servers);
            return new MemcachedStore(
                    client.getConnection(), context.time(), url.timeout(), shortestLease, errors, () -> {
                        client.shutdown();
                        DaemonThreads.awaitEnd(client.getConnection());
                    });
        } catch (IOException e) {
            throw errors.unavailable("cannot be connected to: " + e.getMessage(), e);
        }
    }
}
