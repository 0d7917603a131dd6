package dev.holdfast.zookeeper;

import dev.holdfast.spi.support.Queued;
import dev.holdfast.zookeeper.Session.Listed;
import dev.holdfast.zookeeper.Session.Read;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * Breaks grants: the node of a holder, known by the number that it was created with. No other claim ever has a node of
 * that name. With {@code now}, the node is deleted. Otherwise it is written to, which its holder's client sees by its
 * watch or at its next renewal, and stays for one lease more; then that client deletes it, or this one if it is still
 * there, or it goes with the holder's session. Thread-safe.
 */
final class GrantBreaker {
    private final ZooKeeperContext context;

    GrantBreaker(ZooKeeperContext context) {
        this.context = context;
    }

    CompletableFuture<Boolean> breakGrant(String name, long number, boolean now) {
        CompletableFuture<Session> connected = new CompletableFuture<>();
        context.connection().whenConnected(connected, connected::complete);
        return limited(connected).thenCompose(session -> breakGrant(session, name, number, now));
    }

    /** A semaphore may have very many holders, so each request has its own time-out. */
    private CompletableFuture<Boolean> breakGrant(Session session, String name, long number, boolean now) {
        String lock = context.paths().lock(name);
        session.sync(lock);
        return limited(session.children(lock))
                .thenCompose(listed -> ThrottledRequests.ask(
                        Queued.holders(Predecessors.of(children(listed, lock))),
                        holder -> limited(breakIf(session, lock + "/" + holder.name(), number, now))))
                .thenApply(broken -> broken.contains(true));
    }

    private <T> CompletableFuture<T> limited(CompletableFuture<T> answer) {
        context.timeouts().end(answer);
        return answer;
    }

    /** Breaks a grant if it has the number. A node that has gone meanwhile was not broken. */
    private CompletableFuture<Boolean> breakIf(Session session, String path, long number, boolean now) {
        return session.read(path).thenCompose(read -> {
            Stat stat = read.stat();
            if (!done(read.code(), path) || stat == null || stat.getCzxid() != number) {
                return CompletableFuture.completedFuture(false);
            }
            return now ? session.delete(path).thenApply(code -> done(code, path)) : mark(session, path, read);
        });
    }

    private List<String> children(Listed listed, String lock) {
        if (listed.code() != Code.NONODE) {
            done(listed.code(), lock);
        }
        return listed.children();
    }

    private CompletionStage<Boolean> mark(Session session, String path, Read read) {
        return session.write(path, read.text()).thenApply(written -> {
            boolean marked = done(written.code(), path);
            Duration lease = HolderText.read(read.text()).lease();
            if (marked && !lease.isZero()) { // if the lease is unknown, its holder may still rely on it
                context.time().schedule(() -> context.deleter().remove(session, path), lease);
            }
            return marked;
        });
    }

    /** Whether it was carried out; false if there was nothing left. */
    private boolean done(Code code, String path) {
        if (!Errors.isKnown(code)) {
            throw context.errors().of(code, path);
        }
        return code == Code.OK;
    }
}
