package dev.holdfast.memcached;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.support.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.protocol.ascii.AsciiMemcachedNodeImpl;
import org.jspecify.annotations.Nullable;

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

    private MemcachedStores() {}

    /**
     * Locks on this client, which has one server and speaks the text protocol. Closing the store leaves the client to its
     * owner.
     *
     * <p>Several servers are named by a URL instead: a client may have been told to use another server while one is away,
     * where the same lock would be free.
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
            greet(List.of(server.getSocketAddress()), MemcachedUrl.TIMEOUT, errors);
            return new MemcachedStore(
                    client.getConnection(), context.time(), MemcachedUrl.TIMEOUT, Locks.SHORTEST, errors, () -> {});
        });
    }

    /** A store on a client of its own. */
    static Store open(MemcachedUrl url, StoreContext context, Duration shortest) {
        Errors errors = new Errors(url.description());
        List<InetSocketAddress> servers = url.addresses();
        greet(servers, url.timeout(), errors);
        try {
            MemcachedClient client = new MemcachedClient(
                    new ConnectionFactoryBuilder()
                            .setDaemon(true)
                            .setFailureMode(FailureMode.Cancel)
                            .setMaxReconnectDelay(LONGEST_RECONNECT_DELAY_SECONDS)
                            .setOpTimeout(url.timeout().toMillis())
                            .setOpQueueMaxBlockTime(0)
                            .setOpQueueFactory(LinkedBlockingQueue::new)
                            .setReadOpQueueFactory(LinkedBlockingQueue::new)
                            .setWriteOpQueueFactory(LinkedBlockingQueue::new)
                            .setShouldOptimize(false)
                            .setUseNagleAlgorithm(false)
                            .build(),
                    servers);
            return new MemcachedStore(client.getConnection(), context.time(), url.timeout(), shortest, errors, () -> {
                client.shutdown();
                DaemonThreads.awaitEnd(client.getConnection());
            });
        } catch (IOException e) {
            throw errors.unavailable("cannot be connected to: " + e.getMessage(), e);
        }
    }

    /**
     * Asks each server whether it is Memcached; one of several may be away. By a socket, as spymemcached's thread ends by
     * answers that are none of Memcached's.
     */
    private static void greet(List<? extends SocketAddress> servers, Duration limit, Errors errors) {
        boolean interrupted = Thread.interrupted(); // which would close the socket of a virtual thread
        try {
            HoldfastException away = null;
            int answered = 0;
            for (SocketAddress server : servers) {
                try {
                    greet(server, limit, errors);
                    answered++;
                } catch (StoreUnavailableException e) {
                    away = e;
                }
            }
            if (answered == 0 && away != null) {
                throw away;
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void greet(SocketAddress server, Duration limit, Errors errors) {
        @Nullable String answer;
        try (Dialogue dialogue = Dialogue.with(server, limit)) {
            answer = dialogue.ask("version", line -> false);
        } catch (IOException e) {
            throw errors.unavailable(
                    "did not answer a greeting (" + e.getMessage() + "): is it up, and can it be reached?", e);
        }
        if (!answer.startsWith("VERSION ")) {
            throw errors.refused(
                    "answers a greeting by '" + answer + "', which Memcached does not: correct the URL", null);
        }
    }
}
