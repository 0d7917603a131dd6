package dev.holdfast.zookeeper;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.zookeeper.Session.Found;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * A release and the claim that follows it at once leave as one write: the old node is deleted and the new one made,
 * both or neither. The servers then agree on and log one write less before the next waiter is notified.
 *
 * <p>Only requests that one task makes on its own thread are combined. A claim by another thread, after the removal was
 * requested and before it is sent, waits until it is sent, so that the claim does not overtake it.
 *
 * <p>A task that runs a moment later, on the timer's thread, leaves room for a caller that comes back at once: it takes the
 * grant over, or its claim leaves with the release. Where none has come back lately, the change of threads is only a cost,
 * and delays the release for others. So each such task counts against the next ones, and each that was worth it counts for
 * some; when they are used up, one in some tasks still waits, to find out. Thread-safe.
 */
final class DeleteCreateBatch {
    private static final ThreadLocal<Exchange> CURRENT = new ThreadLocal<>();
    private static final int MOST_LATER = 64;
    private static final int LATER_FOR_ONE = 4;
    private static final int TRY_EACH = 16;

    private final NodeDeleter deleter;
    /** Deletions that were requested and are not sent yet. */
    private final Set<Leaving> heldBack = ConcurrentHashMap.newKeySet();

    private final TimeSource time;
    /** How many of the next tasks run later. */
    private final AtomicInteger later = new AtomicInteger(MOST_LATER);

    private final AtomicInteger tasks = new AtomicInteger();

    DeleteCreateBatch(NodeDeleter deleter, TimeSource time) {
        this.deleter = deleter;
        this.time = time;
    }

    /**
     * Runs a task: a moment later where callers come back, or now. A node that it removes is removed together with the next
     * one that it creates, or at the end.
     */
    void run(Runnable task) {
        boolean within = CURRENT.get() != null; // another task, of any client, that may wait for this one
        if (!within && later.get() == 0 && tasks.incrementAndGet() % TRY_EACH != 0) {
            during(task);
            return;
        }
        time.schedule(
                () -> {
                    int worth = during(task) ? LATER_FOR_ONE : -1;
                    later.updateAndGet(now -> Math.min(MOST_LATER, Math.max(0, now + worth)));
                },
                Duration.ZERO);
    }

    /** Runs a task; whether no removal of its left alone. */
    private boolean during(Runnable task) {
        Exchange exchange = new Exchange();
        CURRENT.set(exchange);
        try {
            task.run();
        } finally {
            CURRENT.remove();
            removeAlone(exchange);
        }
        return !exchange.leftAlone;
    }

    /**
     * A node that was created, or the reason why not.
     *
     * @param alone whether the lock had no other node when this one was created
     */
    record Made(Found found, boolean alone) {}

    /** Removes the node of a grant; the answer is whether it existed. */
    CompletableFuture<Boolean> remove(HeldNode heldNode) {
        Exchange exchange = CURRENT.get();
        if (exchange == null) {
            return deleter.remove(heldNode.session(), heldNode.path());
        }
        removeNow();
        Leaving leaving = new Leaving(
                heldNode.session(),
                heldNode.path(),
                heldNode.wasAlone(),
                new CompletableFuture<>(),
                new CompletableFuture<>());
        heldBack.add(leaving);
        exchange.leaving = leaving;
        return leaving.removed;
    }

    /** Makes a claim, behind the removals of nodes of its lock that other threads have requested. */
    void behindOthers(String lock, Runnable claim) {
        if (heldBack.isEmpty()) {
            claim.run();
            return;
        }
        Exchange exchange = CURRENT.get();
        Leaving own = exchange == null ? null : exchange.leaving;
        CompletableFuture.allOf(heldBack.stream()
                        .filter(each -> each != own && each.path.startsWith(lock + "/"))
                        .map(Leaving::sent)
                        .toArray(CompletableFuture<?>[]::new))
                .thenRun(claim);
    }

    /** Creates an ephemeral sequential node. Together with a removal, the servers answer without its stat. */
    CompletableFuture<Made> make(Session session, String path, String text, List<ACL> acl) {
        Exchange exchange = CURRENT.get();
        Leaving old = exchange == null ? null : exchange.leaving;
        if (exchange == null || old == null || old.session != session) {
            removeNow();
            return session.create(path, text, acl, CreateMode.EPHEMERAL_SEQUENTIAL)
                    .thenApply(found -> new Made(found, false));
        }
        CompletableFuture<Found> replaced = session.replace(old.path, path, text, acl);
        exchange.take(); // not before: if that throws, the removal is sent alone at the end of the task
        sent(old);
        return replaced.thenApply(found -> {
            if (found.code() == Code.OK) {
                old.removed.complete(true);
            } else if (Errors.isOfConnection(found.code())) {
                deleter.removeAgain(old.session, old.path, old.removed);
            } else {
                removeAlone(old); // it may be gone already, which is why both failed
            }
            return new Made(found, old.alone && follows(old.path, found.path()));
        });
    }

    /** Whether both are nodes of one lock, and no other node of that lock was created between them. */
    private static boolean follows(String old, String made) {
        return Paths.parent(old).equals(Paths.parent(made))
                && Node.ofPath(made)
                        .flatMap(next -> Node.ofPath(old).map(before -> next.place() == before.place() + 1))
                        .orElse(false);
    }

    /** Sends a removal that was held back, before something is read. */
    void removeNow() {
        Exchange exchange = CURRENT.get();
        if (exchange != null) {
            removeAlone(exchange);
        }
    }

    private void removeAlone(Exchange exchange) {
        Leaving leaving = exchange.take();
        if (leaving != null) {
            exchange.leftAlone = true;
            removeAlone(leaving);
        }
    }

    private void removeAlone(Leaving leaving) {
        try {
            deleter.remove(leaving.session, leaving.path, leaving.removed);
        } finally {
            sent(leaving);
        }
    }

    private void sent(Leaving leaving) {
        heldBack.remove(leaving);
        leaving.sent.complete(null);
    }

    /** A node to be removed. */
    private record Leaving(
            Session session,
            String path,
            boolean alone,
            CompletableFuture<Boolean> removed,
            CompletableFuture<Void> sent) {
        /** Each is another, and is kept in a set: what a record does by itself is slow until it is compiled. */
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    private static final class Exchange {
        private @Nullable Leaving leaving;
        private boolean leftAlone;

        private @Nullable Leaving take() {
            Leaving taken = leaving;
            leaving = null;
            return taken;
        }
    }
}
