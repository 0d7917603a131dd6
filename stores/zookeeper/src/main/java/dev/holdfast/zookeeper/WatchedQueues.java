package dev.holdfast.zookeeper;

import dev.holdfast.zookeeper.Predecessors.Seen;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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
 * switched that off; all queues are forgotten then.
 *
 * <p>Of one session. Thread-safe.
 */
final class WatchedQueues implements Watcher {
    private final Map<String, Reading> byLock = new ConcurrentHashMap<>();

    /** A queue that is being read, or was; its event removes it in either case. */
    private static final class Reading {
        private volatile @Nullable Seen seen;
    }

    /** What was read last, if nothing has changed since; otherwise null. */
    @Nullable
    Seen unchanged(String lock) {
        Reading last = byLock.get(lock);
        return last == null ? null : last.seen;
    }

    /** Reads a queue, and remembers it until it changes. One in which claims wait is not kept: it may be long. */
    CompletableFuture<Seen> read(Session session, String lock) {
        Reading reading = new Reading();
        byLock.put(lock, reading); // before the request: its event may be handled before its answer is, here
        return session.watchChildren(lock, this).thenApply(listed -> {
            Seen seen = Seen.of(listed);
            if (seen.code() == Code.OK && !seen.contended()) {
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
