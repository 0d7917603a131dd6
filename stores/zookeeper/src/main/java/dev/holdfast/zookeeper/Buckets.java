package dev.holdfast.zookeeper;

import dev.holdfast.zookeeper.Session.Listed;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.data.Stat;

/** Lists the names below a folder, whose nodes are spread over buckets. Few requests at a time. Thread-safe. */
final class Buckets {
    /** So many of the longest names, encoded, are less than the megabyte that ZooKeeper's client takes for an answer. */
    static final int MOST_IN_BUCKET = 600;

    private final ZooKeeperContext context;

    Buckets(ZooKeeperContext context) {
        this.context = context;
    }

    /** The names that begin so, bucket by bucket, sorted. */
    CompletableFuture<List<String>> names(Session session, String folder, String prefix) {
        return context.limited(session.children(folder))
                .thenCompose(listed -> ThrottledRequests.ask(
                        children(listed, folder), bucket -> context.limited(nodes(session, folder + "/" + bucket))))
                .thenApply(buckets -> buckets.stream()
                        .flatMap(List::stream)
                        .map(Paths::decode)
                        .filter(name -> name.startsWith(prefix))
                        .sorted()
                        .toList());
    }

    /**
     * The nodes in one bucket. Counted before they are listed: too long an answer would break the connection that all
     * holds need. And most buckets are empty where locks come and go.
     */
    CompletableFuture<List<String>> nodes(Session session, String bucket) {
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

    /** The children of a node; none where it is not there. */
    List<String> children(Listed listed, String path) {
        if (!Errors.isKnown(listed.code())) {
            throw context.errors().of(listed.code(), path);
        }
        return listed.children();
    }
}
