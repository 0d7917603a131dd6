package dev.holdfast.jdbc;

import dev.holdfast.spi.support.DaemonThreads;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * <a href="https://www.postgresql.org/docs/current/sql-listen.html">LISTEN</a> on one connection, by one thread, while
 * anything waits and a little longer. Thread-safe.
 */
final class PostgresOfferListener implements OfferListener {
    private static final int ROUND_MILLIS = 5_000;
    private static final long LINGER = Duration.ofSeconds(30).toNanos();

    private final Listener listener;
    private final String channel;
    private final Connections connections;
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private volatile @Nullable Connection connection;
    private volatile boolean open;
    private volatile boolean closed;

    PostgresOfferListener(Listener listener, String channel, Connections connections) {
        this.listener = listener;
        this.channel = channel;
        this.connections = connections;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void open() {
        if (closed || thread.get() != null) {
            return;
        }
        Thread fresh = DaemonThreads.daemon("holdfast-listen-" + channel, this::run);
        if (thread.compareAndSet(null, fresh)) {
            try {
                fresh.start();
            } catch (Error noThread) { // the next waiter tries again
                ended(noThread);
            }
        }
    }

    private void run() {
        try (Connection ours = connections.open()) {
            connection = ours;
            if (!closed) {
                listen(ours);
            }
            ended(null);
        } catch (SQLException | RuntimeException | Error e) { // an Error, too, must not end it for good
            ended(e);
        }
    }

    private void listen(Connection ours) throws SQLException {
        boolean asLent = false;
        try {
            LentConnection loan = new LentConnection(ours);
            loan.begin();
            SqlSession.execute(ours, "LISTEN " + channel);
            open = true;
            listener.listening();
            if (receive(ours)) {
                SqlSession.execute(ours, "UNLISTEN " + channel);
                loan.end();
                asLent = true;
            }
        } finally {
            if (!asLent) {
                ours.abort(Runnable::run); // a pool that lent it must not lend it again
            }
        }
    }

    /**
     * Until nobody has wanted it for a while. An empty round asks the server, so that a dead one is noticed, and one
     * that was the primary before a switchover: nothing is sent there any more.
     *
     * @return whether the connection still leads to a server that takes writes
     */
    private boolean receive(Connection ours) throws SQLException {
        PGConnection postgres = ours.unwrap(PGConnection.class);
        long wanted = System.nanoTime();
        while (!closed && System.nanoTime() - wanted < LINGER) {
            PGNotification[] received = postgres.getNotifications(ROUND_MILLIS);
            if (received == null || received.length == 0) {
                if (SqlSession.only(ours, "SHOW transaction_read_only", row -> row.getString(1))
                        .equals("on")) {
                    return false;
                }
            } else {
                for (PGNotification each : received) {
                    listener.offered(each.getParameter());
                }
            }
            if (listener.hasWaiters()) {
                wanted = System.nanoTime();
            }
        }
        return true;
    }

    private void ended(@Nullable Throwable why) {
        boolean received = open;
        open = false;
        connection = null;
        thread.set(null);
        if (closed) {
            return;
        }
        if (why != null) {
            listener.unavailable(why, received);
        } else if (listener.hasWaiters()) {
            open(); // somebody came just now
        }
    }

    @Override
    public void close() {
        closed = true;
        Thread running = thread.get();
        Connection ours = connection;
        if (ours != null) {
            try {
                ours.abort(Runnable::run);
            } catch (SQLException e) {
                // it was over already
            }
        }
        if (running != null) {
            DaemonThreads.awaitEnd(running);
        }
    }
}
