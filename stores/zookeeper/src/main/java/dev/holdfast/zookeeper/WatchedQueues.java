package dev.holdfast.zookeeper;

import dev.holdfast.zookeeper.Predecessors.Seen;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the queues of held locks in which no claim waits. The server reports when such a queue changes, and then it is
 * forgotten. A renewal reads only the queues that are not remembered.
 *
 * <p>A queue is read with a watch, so that no change comes in between, and ZooKeeper sends the event of a change before
 * the answer to anything that was agreed on after it (ZooKeeper Programmer's Guide, "What ZooKeeper Guarantees about
 * Watches"). So once a write is answered on the session's event thread, every queue that changed before that write is
 * forgotten here. The client library sets its watches again after a lost connection, but an application may have
 * switched that off; all queues are forgotten then. Some changes of a server's administrator end a watch without an event:
 * an ACL that takes away the right to read, a snapshot restored into a running server. So a queue is read again after some
 * renewals in any case.
 *
 * <p>Of one session. Thread-safe.
 */
final class WatchedQueues implements Watcher {
    /** A few minutes, with the usual lease: a thirtieth of the reads that it would take to read each time. */
    static final int MOST_RENEWALS = 30;

    /** Longer ones, of many readers or permits, would take more memory than their reads take time. */
    static final int LONGEST = 100;

    private final Map<String, Reading> byLock = new ConcurrentHashMap<>();

    /** A queue that is being read, or was; its event removes it in either case. */
    private static final class Reading {
        private final AtomicInteger renewals = new AtomicInteger();
        private volatile @Nullable Seen seen;
    }

    /** Whether one more renewal may do without reading a queue, as far as is known before its write is answered. */
    boolean isRemembered(String lock) {
        Reading last = byLock.get(lock);
        return last != null && last.seen != null && last.renewals.getAndIncrement() < MOST_RENEWALS;
    }

    /** What was read last, if nothing has changed since; otherwise null. */
    @Nullable
    Seen unchanged(String lock) {
        Reading last = byLock.get(lock);
        return last == null ? null : last.seen;
    }

    /** Reads a queue, and remembers it until it changes, unless it is long or a claim waits in it. */
    CompletableFuture<Seen> read(Session session, String lock) {
        Reading reading = new Reading();
        byLock.put(lock, reading); // before the request: its event may be handled before its answer is, here
        return session.watchChildren(lock, this).thenApply(listed -> {
            Seen seen = Seen.of(listed);
            if (seen.code() == Code.OK && !seen.contended() && seen.names().size() <= LONGEST) {
                reading.seen = seen;
            } else {
                byLock.remove(lock); // also another reading: perhaps nothing is watched
            }
            return seen;
        });
    }

    /** The connection was lost, and with it perhaps a report. */
    void forgetAll() {
        byLock.clear();
    }

    @Override
    public void process(WatchedEvent event) {
        byLock.remove(event.getPath());
    }
}
