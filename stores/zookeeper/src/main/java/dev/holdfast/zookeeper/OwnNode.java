package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.zookeeper.NodeCreation.Arrival;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The node of one claim, as far as is known: in which session, whether it was just read, and how it is removed, also
 * where it is unknown whether it was made. Used in the steps of the claim, unless a method says otherwise.
 */
final class OwnNode {
    private final Claim claim;
    private final ZooKeeperContext context;
    private final String lock;

    private @Nullable Session session;
    private @Nullable Node node;
    /** The number of the grant; 0 unless the node has just been read. */
    private long number;

    /** Whether the node has been seen as the only one. */
    private boolean alone;

    private volatile boolean sent;

    OwnNode(Claim claim, ZooKeeperContext context, String lock) {
        this.claim = claim;
        this.context = context;
        this.lock = lock;
    }

    /** A node that was made, and the session that made it. */
    record Made(Session session, Node node) {}

    /** Begins again, without a node, in a session. */
    void beginIn(Session now) {
        session = now;
        node = null;
    }

    void arrived(Arrival arrival) {
        node = arrival.mine();
        number = arrival.number();
        alone = arrival.queue().isEmpty() ? alone : arrival.queue().size() == 1;
    }

    @Nullable
    Session session() {
        return session;
    }

    /** Null if there is none, as far as is known. */
    @Nullable
    Made made() {
        Session now = session;
        Node mine = node;
        return now == null || mine == null ? null : new Made(now, mine);
    }

    /** Whether nothing has been waited for since the node was read. */
    boolean isJustRead() {
        return number != 0;
    }

    /** Whether its session is fresh enough for a grant; after a stop or a sleep, it must be proved first. */
    boolean isProved() {
        Session now = session;
        return now != null && now.isFresh();
    }

    /** From here on the node must be read again before a grant. */
    void waits() {
        number = 0;
    }

    long number() {
        return number;
    }

    Grant grant(Session now) {
        return new Grant(claim.id(), claim.name(), claim.mode(), now.lease(), number, now.begin());
    }

    /** Answers the claim with its grant; if it was given up in the meantime, removes the node. On any thread. */
    void hold(Grant grant, Made made, CompletableFuture<Optional<Grant>> answer) {
        HeldNode held = new HeldNode(grant, path(made.node()), made.session(), alone, context.heldNodes());
        context.heldNodes().add(held);
        if (answer.complete(Optional.of(grant))) {
            context.heldNodes().check(held);
        } else {
            context.heldNodes().remove(claim.id());
            remove(made);
        }
    }

    private String path(Node of) {
        return lock + "/" + of.name();
    }

    // ---- removal ----

    void send() {
        sent = true;
    }

    /** Whether a node was created, or may have been. On any thread. */
    boolean wasSent() {
        return sent;
    }

    /** On any thread. */
    CompletableFuture<Boolean> remove(Made made) {
        return context.deleter().remember(claim.id(), context.deleter().remove(made.session(), path(made.node())));
    }

    /** Removes whatever the claim has left. On any thread. */
    void removeUnknown() {
        if (sent) {
            context.deleter().removeClaim(claim.name(), claim.id());
        }
    }

    /** Removes what arrived after the claim was given up: the earlier removal may have found nothing. On any thread. */
    void removeIfLate(Session now, @Nullable Arrival arrival, CompletableFuture<?> answer) {
        if (arrival == null || !answer.isCompletedExceptionally()) {
            return;
        }
        Node late = arrival.mine();
        if (late != null) {
            remove(new Made(now, late));
        } else if (Errors.isOfConnection(arrival.code())) {
            removeUnknown();
        }
    }
}
