package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.support.Queued;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * The claims that came before one, as far as is known, and which of them are watched. They can only become fewer: later
 * claims never matter to it. Used in the steps of the claim alone.
 */
final class Blockers {
    private final Claim claim;
    private final String lock;
    private final Watcher watcher;
    private final Set<Node> watched = new HashSet<>();
    private List<Node> before = new ArrayList<>();

    /**
     * @param lock the node of the lock
     * @param watcher notified when a watched node changes
     */
    Blockers(Claim claim, String lock, Watcher watcher) {
        this.claim = claim;
        this.lock = lock;
        this.watcher = watcher;
    }

    /** Records the claims before this one. Those that have gone are no longer watched. */
    void learn(Node mine, Collection<String> queue, @Nullable Session session) {
        before = Predecessors.before(mine, queue);
        unwatch(session, node -> !before.contains(node));
    }

    /** Whether more are before the claim than it may join behind. */
    boolean areTooMany() {
        return before.size() >= Predecessors.MOST_BEFORE;
    }

    /** Whether it is the claim's turn, as far as is known. */
    boolean areGone() {
        return remaining().isEmpty();
    }

    private List<Node> remaining() {
        return Queued.blockers(claim.mode(), before);
    }

    /** The claims to be watched from now on. */
    List<Node> toWatch() {
        return remaining().stream().filter(watched::add).toList();
    }

    /** A message about a node arrived; returns whether it was watched, which it no longer is. */
    boolean changed(Node node) {
        return watched.remove(node);
    }

    void gone(Node node) {
        before.remove(node);
        watched.remove(node);
    }

    /** Has all of them watched again, in case a message was lost. */
    void watchAgain() {
        watched.clear();
    }

    /** Stops watching. */
    void forget(@Nullable Session session) {
        unwatch(session, node -> true);
    }

    private void unwatch(@Nullable Session session, Predicate<Node> which) {
        watched.removeIf(node -> {
            boolean goes = which.test(node);
            if (goes && session != null) {
                session.unwatch(lock + "/" + node.name(), watcher);
            }
            return goes;
        });
    }
}
