package dev.holdfast.zookeeper;

import dev.holdfast.LockStatus;
import dev.holdfast.zookeeper.Session.Listed;
import dev.holdfast.zookeeper.Session.Read;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * The state of locks. "Held for" counts from when the holder joined the queue, by this machine's clock: the servers record
 * no more. Thread-safe.
 */
final class Listing {
    private static final int TOKENS_PER_NUMBER = 1024;
    /** So many of the longest names, encoded, are less than the megabyte that ZooKeeper's client takes for an answer. */
    static final int MOST_IN_BUCKET = 600;

    private final ZooKeeperContext context;

    Listing(ZooKeeperContext context) {
        this.context = context;
    }

    CompletableFuture<LockStatus> status(String name) {
        CompletableFuture<LockStatus> status = new CompletableFuture<>();
        context.connection().whenConnected(status, session -> {
            session.sync(context.paths().lock(name));
            answer(status(session, name), status);
        });
        return status;
    }

    /** Bucket by bucket, lock by lock, few requests at a time. */
    CompletableFuture<List<LockStatus>> list(String prefix) {
        CompletableFuture<Session> connected = new CompletableFuture<>();
        context.connection().whenConnected(connected, connected::complete);
        return limited(connected).thenCompose(session -> {
            session.sync(context.paths().locks());
            return names(session, prefix)
                    .thenCompose(names -> ThrottledRequests.ask(names, name -> limited(status(session, name))))
                    .thenApply(all -> all.stream()
                            .filter(status -> status.isHeld() || status.waiting() > 0)
                            .toList());
        });
    }

    private CompletableFuture<List<String>> names(Session session, String prefix) {
        String folder = context.paths().locks();
        return limited(session.children(folder))
                .thenCompose(listed -> ThrottledRequests.ask(
                        children(listed, folder), bucket -> limited(inBucket(session, folder + "/" + bucket))))
                .thenApply(buckets -> buckets.stream()
                        .flatMap(List::stream)
                        .map(Paths::decode)
                        .filter(name -> name.startsWith(prefix))
                        .sorted()
                        .toList());
    }

    /**
     * Counted before it is listed: too long an answer would break the connection that all holds need. And most buckets
     * are empty where locks come and go.
     */
    private CompletableFuture<List<String>> inBucket(Session session, String bucket) {
        return session.exists(bucket).thenCompose(found -> {
            Stat stat = found.stat();
            if (stat != null && stat.getNumChildren() == 0) {
                return CompletableFuture.completedFuture(List.of());
            }
            if (stat != null && stat.getNumChildren() > MOST_IN_BUCKET) {
                throw context.errors().tooManyToList(stat.getNumChildren(), bucket);
            }
            return session.children(bucket).thenApply(listed -> children(listed, bucket));
        });
    }

    private <T> CompletableFuture<T> limited(CompletableFuture<T> answer) {
        context.timeouts().end(answer);
        return answer;
    }

    private CompletableFuture<LockStatus> status(Session session, String name) {
        String lock = context.paths().lock(name);
        return session.children(lock).thenCompose(listed -> {
            List<Node> line = Predecessors.of(children(listed, lock));
            if (line.isEmpty()) {
                return CompletableFuture.completedFuture(LockStatus.free(name, 0));
            }
            Node head = line.get(0);
            int waiting = line.size() - Predecessors.holders(line).size();
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
        HolderText said = HolderText.read(read.text());
        long held = Math.max(0, context.time().wallMillis() - stat.getCtime());
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        head.mode().kind(),
                        stat.getCzxid() * TOKENS_PER_NUMBER,
                        said.holder(),
                        Duration.ofMillis(held),
                        said.lease())),
                waiting);
    }

    private List<String> children(Listed listed, String path) {
        if (listed.code() != Code.OK && listed.code() != Code.NONODE) {
            throw context.errors().of(listed.code(), path);
        }
        return listed.children();
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
