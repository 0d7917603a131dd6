package dev.holdfast.zookeeper;

import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.spi.support.Queued;
import dev.holdfast.zookeeper.Session.Read;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The state of locks. "Held for" counts from when the holder joined the queue, by this machine's clock: the servers record
 * no more. Thread-safe.
 */
final class Listing {
    private static final int TOKENS_PER_NUMBER = 1024;

    private final ZooKeeperContext context;
    private final Buckets buckets;

    Listing(ZooKeeperContext context) {
        this.context = context;
        this.buckets = new Buckets(context);
    }

    CompletableFuture<LockStatus> status(String name) {
        CompletableFuture<LockStatus> status = new CompletableFuture<>();
        context.connection().whenConnected(status, session -> {
            session.sync(context.paths().lock(name));
            answer(status(session, name), status);
        });
        return status;
    }

    CompletableFuture<List<LockStatus>> list(String prefix) {
        return ofEach(prefix, (session, name) -> context.limited(status(session, name)))
                .thenApply(all -> all.stream()
                        .filter(status -> status.isHeld() || status.waiting() > 0)
                        .toList());
    }

    CompletableFuture<List<LockWaiter>> waiters(String prefix) {
        return ofEach(prefix, this::waitersOf)
                .thenApply(all -> all.stream().flatMap(List::stream).toList());
    }

    /** Bucket by bucket, lock by lock, few requests at a time. */
    private <T> CompletableFuture<List<T>> ofEach(
            String prefix, BiFunction<Session, String, CompletableFuture<T>> question) {
        CompletableFuture<Session> connected = new CompletableFuture<>();
        context.connection().whenConnected(connected, connected::complete);
        return context.limited(connected).thenCompose(session -> {
            session.sync(context.paths().locks());
            return buckets.names(session, context.paths().locks(), prefix)
                    .thenCompose(names -> ThrottledRequests.ask(names, name -> question.apply(session, name)));
        });
    }

    /** In the order of the queue. */
    private CompletableFuture<List<LockWaiter>> waitersOf(Session session, String name) {
        String lock = context.paths().lock(name);
        return context.limited(session.children(lock)).thenCompose(listed -> {
            List<Node> queue = Predecessors.of(buckets.children(listed, lock));
            return ThrottledRequests.ask(
                            1, // many locks are asked at the same time
                            Queued.waiting(queue),
                            node -> context.limited(session.read(lock + "/" + node.name()))
                                    .thenApply(read -> waiter(name, node, read)))
                    .thenApply(all -> all.stream().flatMap(Optional::stream).toList());
        });
    }

    /** Empty if it waits no longer. */
    private Optional<LockWaiter> waiter(String name, Node node, Read read) {
        Stat stat = read.stat();
        if (read.code() == Code.NONODE) {
            return Optional.empty();
        }
        if (read.code() != Code.OK || stat == null) {
            throw context.errors().of(read.code(), context.paths().lock(name));
        }
        return Optional.of(new LockWaiter(
                name, HolderText.read(read.text()).holder(), node.mode().kind(), sinceMade(stat)));
    }

    private Duration sinceMade(Stat node) {
        return Duration.ofMillis(Math.max(0, context.time().wallMillis() - node.getCtime()));
    }

    private CompletableFuture<LockStatus> status(Session session, String name) {
        String lock = context.paths().lock(name);
        return session.children(lock).thenCompose(listed -> {
            List<Node> queue = Predecessors.of(buckets.children(listed, lock));
            if (queue.isEmpty()) {
                return CompletableFuture.completedFuture(LockStatus.free(name, 0));
            }
            Node head = queue.get(0);
            int waiting = Queued.waiting(queue).size();
            return session.read(lock + "/" + head.name())
                    .thenCompose(read -> read.code() == Code.NONODE
                            ? status(session, name) // it has just gone
                            : CompletableFuture.completedFuture(held(name, head, waiting, read)));
        });
    }

    private LockStatus held(String name, Node head, int waiting, Read read) {
        Stat stat = read.stat();
        if (read.code() != Code.OK || stat == null) {
            throw context.errors().of(read.code(), context.paths().lock(name));
        }
        HolderText text = HolderText.read(read.text());
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        head.mode().kind(),
                        stat.getCzxid() * TOKENS_PER_NUMBER,
                        text.holder(),
                        sinceMade(stat),
                        text.lease())),
                waiting);
    }

    private static <T> void answer(CompletableFuture<T> from, CompletableFuture<T> to) {
        from.whenComplete((answer, failure) -> {
            if (failure == null) {
                to.complete(answer);
            } else {
                to.completeExceptionally(Errors.unwrapped(failure));
            }
        });
    }
}
