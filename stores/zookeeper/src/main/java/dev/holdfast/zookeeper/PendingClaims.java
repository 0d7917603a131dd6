package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.PlannedTask;
import dev.holdfast.zookeeper.Session.Found;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client under way, by their ids. Each of them now and then reads those before it, in case a message
 * was lost; the timer for that runs while there are any. Thread-safe.
 */
final class PendingClaims {
    static final Duration POLL = Duration.ofSeconds(15);

    private final Map<ClaimId, PendingClaim> all = new ConcurrentHashMap<>();
    private final PlannedTask poll;
    private final ZooKeeperContext context;
    private final LateListener listener = new LateListener();
    private volatile @Nullable RuntimeException end;

    PendingClaims(ZooKeeperContext context) {
        this.context = context;
        this.poll = new PlannedTask(context.time(), this::poll);
    }

    void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    Pending claim(Claim claim, Answer answer) {
        HeldNode heldNode = context.heldNodes().get(claim.id());
        if (heldNode != null && !heldNode.session().hasEnded()) {
            return again(claim, heldNode, answer);
        }
        PendingClaim place = new PendingClaim(claim, context, listener);
        PendingClaim same = all.putIfAbsent(claim.id(), place);
        if (same != null) {
            same.repeated(answer);
            return same;
        }
        heldNode = context.heldNodes().get(claim.id());
        if (heldNode != null) { // granted meanwhile, and no longer under way
            all.remove(claim.id(), place);
            return again(claim, heldNode, answer);
        }
        place.answer().whenComplete((grant, failure) -> {
            if (failure != null) {
                place.giveUp();
            }
            all.remove(claim.id(), place);
        });
        place.answer().whenComplete((grant, failure) -> place.tellRepeated());
        answer.follow(place.answer()); // told first, as what was added last runs first
        RuntimeException why = end;
        if (why != null) {
            place.answer().completeExceptionally(why); // a repeated claim may be made again at any moment
            return place;
        }
        if (claim.waits()) {
            pollSometimes();
            if (context.connection().session() == null) { // lost before this claim came
                listener.unreachable(claim.name(), connectionLoss());
                if (context.connection().session() != null) {
                    connected(); // it came back in this moment, and that was reported before
                }
            }
        } else {
            context.timeouts().end(place.answer());
        }
        context.deleter().behind(claim.id(), () -> context.batches().behindOthers(place.lock(), place::begin));
        return place;
    }

    /** Ends a claim, if it is under way; whether it may have left a node. */
    boolean withdraw(ClaimId id) {
        PendingClaim place = all.get(id);
        if (place == null) {
            return false;
        }
        place.cancel();
        return place.wasSent();
    }

    void connected() {
        listener.reachable();
    }

    void suspended() {
        unreachable(connectionLoss());
    }

    private HoldfastException connectionLoss() {
        return context.errors().of(Code.CONNECTIONLOSS, context.paths().locks());
    }

    private void unreachable(HoldfastException why) {
        all.values().forEach(place -> listener.unreachable(place.claim().name(), why));
    }

    void ended(Session session) {
        all.values().forEach(place -> place.ended(session));
        if (context.connection().session() == null) {
            suspended(); // a reconnection that was reported meanwhile was none
        }
    }

    /** Fails all claims, also those to come. */
    void failAll(RuntimeException why) {
        end = why;
        all.values().forEach(place -> place.answer().completeExceptionally(why));
    }

    /**
     * A claim that was granted is repeated: its lease begins again, as fresh as that of a new grant. If its session has
     * ended, or its node is gone or was broken, the claim is made again.
     */
    private Pending again(Claim claim, HeldNode heldNode, Answer answer) {
        Again again = new Again();
        Session session = heldNode.session();
        CompletableFuture<Found> found = new CompletableFuture<>();
        context.timeouts().end(found);
        read(heldNode, found);
        found.whenComplete((node, failure) -> {
            if (failure != null) {
                answer.failed(failure);
            } else if (session.hasEnded()) {
                context.heldNodes().ended(heldNode);
                again.follow(claim(claim, answer));
            } else if (node.code() == Code.NONODE) {
                context.heldNodes().gone(heldNode);
                again.follow(claim(claim, answer));
            } else if (node.stat() == null) {
                answer.failed(context.errors().of(node.code(), heldNode.path()));
            } else if (node.stat().getVersion() > 0) {
                context.heldNodes().broken(heldNode);
                again.follow(claim(claim, answer));
            } else {
                answer.granted(renewed(heldNode.grant(), session));
            }
        });
        return again;
    }

    /** Reads the node behind a proof of its session; once more, with another proof, while the lease is nearly over. */
    private void read(HeldNode heldNode, CompletableFuture<Found> found) {
        Session session = heldNode.session();
        session.prove(context.paths().locks());
        session.exists(heldNode.path()).thenAccept(node -> {
            if (node.code() != Code.OK || session.isFresh() || session.hasEnded()) {
                found.complete(node);
            } else if (!found.isDone()) {
                CompletableFuture<Session> later = new CompletableFuture<>();
                later.thenAccept(same -> read(heldNode, found));
                session.afterPutOff(later);
            }
        });
    }

    private static Grant renewed(Grant granted, Session session) {
        return new Grant(
                granted.id(), granted.name(), granted.mode(), session.lease(), granted.number(), session.begin());
    }

    private void pollSometimes() {
        poll.within(Duration.ofNanos(Pauses.jittered(POLL.toNanos())));
    }

    private void poll() {
        if (all.values().stream().anyMatch(place -> place.claim().waits())) {
            pollSometimes(); // first: it goes on whatever comes of this one
        }
        all.values().forEach(PendingClaim::watchAgain);
        askWhetherItAnswers();
    }

    /**
     * Servers that send nothing, on an open connection: the client library notices that after two thirds of the
     * session's time-out, which may be long.
     */
    private void askWhetherItAnswers() {
        Session now = context.connection().session();
        if (now == null || all.isEmpty()) {
            return;
        }
        CompletableFuture<Found> answer = now.exists(context.paths().locks());
        context.timeouts().limit(answer).whenComplete((found, late) -> {
            if (late != null && now.isConnected()) {
                unreachable(context.errors().noAnswer());
            }
        });
        answer.thenAccept(found -> {
            if (!Errors.isOfConnection(found.code())) {
                connected();
            }
        });
    }

    /** A claim that was granted already. */
    private static final class Again implements Pending {
        private volatile boolean cancelled;
        private volatile @Nullable Pending next;

        @Override
        public void cancel() {
            cancelled = true;
            Pending made = next;
            if (made != null) {
                made.cancel();
            }
        }

        private void follow(Pending made) {
            next = made;
            if (cancelled) {
                made.cancel();
            }
        }
    }
}
