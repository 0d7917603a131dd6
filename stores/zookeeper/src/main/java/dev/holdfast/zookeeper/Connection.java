package dev.holdfast.zookeeper;

import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.PlannedTask;
import java.time.Duration;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.jspecify.annotations.Nullable;

/**
 * The connection to the servers: the present session, its changes, and the requests that wait for it. Curator's client
 * opens connections, and a new session when one has ended; its events come here on the session's event thread, before
 * the answers that follow them.
 *
 * <p>Thread-safe.
 */
final class Connection implements CuratorListener {
    private static final int TRIES = 10;
    private static final String ANY_NODE = "/";
    private static final long OVERLOAD_PAUSE = Duration.ofMillis(500).toNanos();

    private final CuratorFramework curator;
    private final ElapsedTime elapsed;
    private final Duration tick;
    private final Supplier<Moment> attemptedAt;
    private final PlannedTask beat;
    private volatile boolean closed;
    private final NavigableMap<Long, Parked> parked = new ConcurrentSkipListMap<>();
    private final AtomicLong parkedSoFar = new AtomicLong();
    private final CompletableFuture<Void> ownerClosed = new CompletableFuture<>();
    private final CompletableFuture<Session> first = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private volatile @Nullable Session session;
    private volatile @Nullable Listener listener;

    /** Receives the changes of a session's state. */
    interface Listener {
        /** The connection of the session broke. The session may survive, or may have ended already. */
        void suspended(Session session);

        /** The session is open, or connected again. */
        void connected(Session session);

        /** The session has ended, and its nodes are deleted. */
        void ended(Session session);
    }

    /**
     * @param attemptedAt when the present connection was requested, at the earliest
     */
    Connection(CuratorFramework curator, ElapsedTime elapsed, Duration tick, Supplier<Moment> attemptedAt) {
        this.curator = curator;
        this.elapsed = elapsed;
        this.tick = tick;
        this.attemptedAt = attemptedAt;
        this.beat = new PlannedTask(elapsed, this::beat);
    }

    /** Begins to listen. The first session may be there already. */
    void open(Listener receiver) {
        listener = receiver;
        curator.getCuratorListenable().addListener(this, Runnable::run);
        if (curator.getZookeeperClient().isConnected()) {
            connected(attemptedAt.get());
        }
    }

    private void beat() {
        Session now = session();
        if (now != null && !closed) {
            beat.within(now.beat());
            now.stayCounted();
        }
    }

    void close() {
        closed = true;
        curator.getCuratorListenable().removeListener(this);
        parked.clear();
    }

    /** The first session, once it is open. */
    CompletableFuture<Session> first() {
        return first;
    }

    /** The session through which requests can go out now; null while there is none. */
    @Nullable
    Session session() {
        Session now = session;
        return now != null && now.isConnected() ? now : null;
    }

    /** Completes when the application closes the client that it lent. */
    CompletableFuture<Void> ownerClosed() {
        return ownerClosed;
    }

    /**
     * Does something short once requests can go out: now, or when the connection is back, in the order in which it was
     * asked for; never after the close, and not once there is an answer, of a time-out above all.
     */
    void whenConnected(CompletableFuture<?> answer, Consumer<Session> task) {
        if (closed) {
            return; // no event would report that the connection broke, and requests would be retried for ever
        }
        Session now = session();
        if (now != null) {
            goOnBeating(now);
            task.accept(now);
            return;
        }
        Long ticket = parkedSoFar.incrementAndGet();
        parked.put(ticket, new Parked(task, answer));
        answer.whenComplete((done, failure) -> parked.remove(ticket));
        now = session();
        if (now != null) {
            unpark(now);
        }
    }

    /** The same after a request that was not carried out, or perhaps not; with a pause, if the servers have too much to do. */
    void whenConnectedAgain(Code failed, CompletableFuture<?> answer, Consumer<Session> task) {
        if (failed == Code.THROTTLEDOP) {
            PlannedTask.surely(
                    elapsed, () -> whenConnected(answer, task), Duration.ofNanos(Pauses.jittered(OVERLOAD_PAUSE)));
        } else {
            whenConnected(answer, task);
        }
    }

    @Override
    public void eventReceived(CuratorFramework client, CuratorEvent event) {
        WatchedEvent watched = event.getWatchedEvent();
        if (event.getType() == CuratorEventType.WATCHED && watched.getType() == EventType.None) {
            stateChanged(watched.getState());
        } else if (event.getType() == CuratorEventType.CLOSING) {
            closing();
        }
    }

    /** The application closes the client that it lent. This event precedes the end of the session, and is the last one. */
    private void closing() {
        closed = true;
        parked.clear();
        ended(session);
        ownerClosed.complete(null);
    }

    private void stateChanged(KeeperState state) {
        switch (state) {
            case SyncConnected -> connected(attemptedAt.get());
            case Expired, Closed -> expired();
            case SaslAuthenticated -> {}
            default -> disconnected();
        }
    }

    /** The event may be late, of a session before the present one: what counts is the present one's state. */
    private void expired() {
        Session now = session;
        if (now != null && !now.isAlive()) {
            ended(now);
        }
    }

    private void connected(Moment since) {
        Session now;
        Session before;
        mutex.lock(); // two sessions have two event threads
        try {
            ZooKeeper handle = handle();
            if (handle == null || handle.getSessionId() == 0 || handle.getState() != States.CONNECTED) {
                return; // the event of an old one, and the new one's follows; or the server is for reading only
            }
            before = session;
            if (before != null && before.isOf(handle) && !before.hasEnded()) {
                now = before;
                before.reconnected(since);
            } else {
                now = new Session(handle, elapsed, tick, since);
                session = now;
            }
        } finally {
            mutex.unlock();
        }
        try {
            if (before != now) {
                ended(before);
            }
        } finally {
            first.complete(now);
            now.stayCounted();
            report(receiver -> receiver.connected(now));
            unpark(now);
            goOnBeating(now);
        }
    }

    /** If the timer has no thread, the next claim plans the beat again. */
    private void goOnBeating(Session now) {
        try {
            beat.within(now.beat());
        } catch (Throwable noThread) {
            // grants are proved by a second write meanwhile
        }
    }

    /** The handle of the present session; null if the client is closed. It throws, once each, what failed before. */
    private @Nullable ZooKeeper handle() {
        for (int i = 0; i < TRIES; i++) {
            try {
                return curator.getZookeeperClient().getZooKeeper();
            } catch (Exception e) {
                // an old failure, or a closed client
            }
        }
        return null;
    }

    private void disconnected() {
        Session now = session;
        if (now != null && !now.hasEnded()) {
            now.disconnected();
            report(receiver -> receiver.suspended(now));
            if (now.mayBeBack()) {
                askIfBack(now);
            }
        }
    }

    /**
     * The event may be late, or of an earlier session, and then no other follows. The client library says that it is
     * connected until it begins the next try: only an answer shows that it is.
     */
    private void askIfBack(Session now) {
        now.exists(ANY_NODE).thenAccept(found -> {
            if (!Errors.isOfConnection(found.code()) && !now.isConnected() && !now.hasEnded()) {
                connected(attemptedAt.get());
            }
        });
    }

    private void ended(@Nullable Session gone) {
        if (gone != null && gone.end()) {
            report(receiver -> receiver.ended(gone));
        }
    }

    private void report(Consumer<Listener> what) {
        Listener receiver = listener;
        if (receiver != null) {
            what.accept(receiver);
        }
    }

    private void unpark(Session now) {
        for (Map.Entry<Long, Parked> next = parked.pollFirstEntry(); next != null; next = parked.pollFirstEntry()) {
            next.getValue().run(now);
        }
    }

    /** A task that waits for a connection. If it throws, that is its answer, and those behind it run. */
    private record Parked(Consumer<Session> task, CompletableFuture<?> answer) {
        void run(Session now) {
            try {
                task.accept(now);
            } catch (Throwable thrown) {
                answer.completeExceptionally(thrown);
            }
        }
    }
}
