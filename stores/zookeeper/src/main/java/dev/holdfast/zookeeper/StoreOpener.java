package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;

/**
 * Assembles a store and waits until it can be used, or reports why it cannot.
 *
 * @param curator started, or about to be connected
 * @param acls the rights to the nodes that are made
 * @param attemptedAt when the present connection was requested, at the earliest
 */
record StoreOpener(
        CuratorFramework curator,
        Paths paths,
        ACLProvider acls,
        ZooKeeperOptions options,
        ElapsedTime time,
        Errors errors,
        Supplier<Moment> attemptedAt) {

    /** The last step of a store that closes: it ends the session, if the session is its own. */
    @FunctionalInterface
    interface ShutDown {
        /**
         * Runs it.
         *
         * @param limit how long to wait for servers
         */
        void run(ZooKeeperContext context, Duration limit);
    }

    /** A store that can be used; a failure leaves nothing behind. */
    ZooKeeperStore open(ShutDown shutDown) {
        Connection connection = new Connection(curator, time, options.tick(), attemptedAt);
        NodeDeleter deleter = new NodeDeleter(connection, paths, errors);
        Timeouts timeouts = new Timeouts(time, options.timeout(), errors);
        HeldNodes heldNodes = new HeldNodes(deleter, time, !options.ridesOutDisconnects());
        ZooKeeperContext context = new ZooKeeperContext(
                connection,
                paths,
                acls,
                time,
                errors,
                timeouts,
                deleter,
                new DeleteCreateBatch(deleter, time),
                heldNodes);
        PendingClaims places = new PendingClaims(context);
        try {
            connection.open(new News(heldNodes, places));
            await(connection.first().thenCompose(new Layout(paths, acls, errors)::prepare));
        } catch (RuntimeException | Error e) {
            connection.close();
            shutDown.run(context, Duration.ZERO);
            throw e;
        }
        return new ZooKeeperStore(context, places, () -> shutDown.run(context, options.timeout()));
    }

    private void await(CompletableFuture<Session> ready) {
        try {
            ready.get(options.timeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw errors.noAnswer();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HoldfastException known) {
                throw known;
            }
            throw errors.unavailable("could not be opened", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.unavailable("was not waited for: the thread was interrupted", e);
        }
    }

    /** Passes the changes of a session's state on. */
    private record News(HeldNodes heldNodes, PendingClaims places) implements Connection.Listener {
        @Override
        public void suspended(Session session) {
            heldNodes.suspended(session);
            places.suspended();
        }

        @Override
        public void connected(Session session) {
            places.connected();
        }

        @Override
        public void ended(Session session) {
            heldNodes.ended(session);
            places.ended(session);
        }
    }
}
