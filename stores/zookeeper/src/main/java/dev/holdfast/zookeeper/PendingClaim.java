package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.ClaimSteps.NOTHING;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.Queued;
import dev.holdfast.zookeeper.ClaimSteps.Phase;
import dev.holdfast.zookeeper.NodeCreation.Arrival;
import dev.holdfast.zookeeper.NodeCreation.Missing;
import dev.holdfast.zookeeper.Session.Listed;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * One claim, and its place in the queue of a lock.
 *
 * <pre>
 *   waits   ────────────► ENTERING ── no earlier claims ──────────────────────► ANSWERED: the grant
 *                          │   ▲                                                   ▲
 *                          │   └── the session is gone, or the node ──┐            │
 *                          ▼                                          │            │
 *   tries ─► CHECKING    WAITING ── one that is watched has gone ─► CONFIRMING ────┘
 *             │            │ ▲                                        │   still there, no earlier claims
 *             │ taken      │ └────────── others are left ─────────────┘
 *             ▼            ▼ cancel
 *          ANSWERED ◄── LEAVING: nothing, once the node is gone
 * </pre>
 *
 * <p>The recipe is the fair lock of ZooKeeper's own documentation (Hunt, Konar, Junqueira and Reed, "ZooKeeper: Wait-free
 * coordination for Internet-scale systems", 2010), with these differences. Entering takes one round trip: the node is
 * made and the children are listed by requests sent back to back. The earlier claims are remembered and can only become
 * fewer. So when the only earlier claim has gone, none is left. If there were more, the children are listed once again:
 * those in between may have gone without a message or may still be there. The node is named after the claim, so that a
 * node whose creation was not answered is found.
 *
 * <p>No grant without a read of the node itself, after everything that the claim waited for: another client may have
 * removed it, or it may be of a session that has ended. A claim that enters and is alone has just seen its node among
 * the children.
 *
 * <p>A try reads first and writes nothing when it is not its turn. A wait outlives broken connections, ended sessions,
 * servers that have too much to do, and a quota that is used up; with a new session it goes to the end of the queue.
 * Thread-safe.
 */
final class PendingClaim implements Pending, Watcher {
    private static final int MOST_ENTRIES = 10;
    private static final long PAUSE = Duration.ofMillis(20).toNanos();
    /** Somebody must raise the quota, or others release locks: the pause doubles so often, up to eight seconds. */
    private static final long QUOTA_PAUSE = Duration.ofMillis(500).toNanos();

    private static final int MOST_DOUBLINGS = 4;

    private final Claim claim;
    private final ZooKeeperContext context;
    private final String lock;
    private final NodeCreation creation;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final Queue<Answer> repeated = new ConcurrentLinkedQueue<>();
    private final ClaimSteps steps = new ClaimSteps(answer);
    private final OwnNode own;
    private final Blockers blockers;
    private final StoreListener listener;

    private int entries;
    /** Why the servers do not serve it, though they answer: over a quota, or too much to do; null when they do. */
    private @Nullable HoldfastException unserved;

    private int pauses;

    private boolean cancelled;
    private Missing missing = Missing.NOTHING;

    /**
     * Not sent yet.
     *
     * @param listener hears that the servers cannot serve it, and that they can again
     */
    PendingClaim(Claim claim, ZooKeeperContext context, StoreListener listener) {
        this.claim = claim;
        this.listener = listener;
        this.context = context;
        this.lock = context.paths().lock(claim.name());
        this.creation = new NodeCreation(claim, context, lock);
        this.own = new OwnNode(claim, context, lock);
        this.blockers = new Blockers(claim, lock, this);
    }

    CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** The claim was made again under its id; it is told after the first. */
    void repeated(Answer again) {
        repeated.add(again);
        if (answer.isDone()) {
            tellRepeated();
        }
    }

    void tellRepeated() {
        for (Answer next = repeated.poll(); next != null; next = repeated.poll()) {
            next.follow(answer);
        }
    }

    Claim claim() {
        return claim;
    }

    /** The node of its lock. */
    String lock() {
        return lock;
    }

    void begin() {
        context.connection().whenConnected(answer, now -> steps.step(() -> begun(now)));
    }

    @Override
    public void cancel() {
        steps.step(() -> {
            cancelled = true;
            return switch (steps.phase()) {
                case APART -> unanswered(Code.CONNECTIONLOSS);
                case WAITING, CONFIRMING -> leaving(null);
                case CHECKING, ENTERING -> () -> context.timeouts().end(answer);
                case LEAVING, ANSWERED -> NOTHING;
            };
        });
    }

    /** The claim was answered elsewhere: it timed out, or the client is closed. Nothing of it may be left. */
    void giveUp() {
        steps.step(() -> steps.is(Phase.ANSWERED) ? NOTHING : ending(own::removeUnknown));
    }

    /** The session has ended, and its node is deleted now or soon. A claim that leaves deletes its node in any session. */
    void ended(Session gone) {
        steps.step(() -> {
            boolean stays = !steps.is(Phase.ANSWERED) && !steps.is(Phase.APART) && !steps.is(Phase.LEAVING);
            unserved = null; // from now on the servers are away
            return own.session() == gone && stays ? brokenOff() : NOTHING;
        });
    }

    /** Watches its blockers again, in case a message was lost. */
    void watchAgain() {
        steps.step(() -> {
            if (!steps.is(Phase.WAITING)) {
                return NOTHING;
            }
            blockers.watchAgain();
            return judged();
        });
    }

    /** Whether it created a node, or may have. */
    boolean wasSent() {
        return own.wasSent();
    }

    // ---- joining the queue ----

    private Runnable begun(Session now) {
        if (!steps.is(Phase.APART)) {
            return NOTHING;
        }
        steps.turn();
        boolean again = own.session() == now && own.wasSent();
        forgetWatches();
        own.beginIn(now);
        if (again) {
            steps.enter(Phase.ENTERING); // unless it was made before the connection broke
            return steps.request(() -> creation.seek(now), arrival -> arrived(now, arrival));
        }
        return claim.waits() ? entering(now, Missing.NOTHING) : checking(now);
    }

    /** A try: whether it would be its turn. */
    private Runnable checking(Session now) {
        steps.enter(Phase.CHECKING);
        return steps.request(() -> creation.list(now), (Listed listed) -> {
            if (!Errors.isKnown(listed.code())) {
                return failed(listed.code());
            }
            boolean free = Queued.blockers(claim.mode(), Predecessors.of(listed.children()))
                    .isEmpty();
            return free && !cancelled ? entering(now, Missing.NOTHING) : answering(null);
        });
    }

    private Runnable entering(Session now, Missing what) {
        steps.enter(Phase.ENTERING);
        own.send();
        if (++entries > MOST_ENTRIES) {
            return answering(
                    context.errors().unavailable("removes '" + claim.name() + "' as fast as it is made", null));
        }
        missing = what;
        return steps.request(
                () -> creation.enter(now, what)
                        .whenComplete((arrival, failure) -> own.removeIfLate(now, arrival, answer)),
                arrival -> arrived(now, arrival));
    }

    private Runnable arrived(Session now, Arrival arrival) {
        boolean lockMissing = arrival.code() == Code.NONODE;
        if (arrival.mine() == null && !lockMissing && arrival.code() != Code.OK) {
            return failed(arrival.code());
        }
        own.arrived(arrival);
        Node mine = arrival.mine();
        if (mine == null) {
            forgetWatches();
            return cancelled ? answering(null) : entering(now, lockMissing ? missing.more() : Missing.NOTHING);
        }
        if (arrival.code() != Code.OK) {
            return failed(arrival.code());
        }
        if (mine.isBeyondTheLast()) {
            return leaving(context.errors().countedOut(claim.name()));
        }
        blockers.learn(mine, arrival.queue(), now);
        Runnable next = blockers.areTooMany() ? leaving(context.errors().lineTooLong(claim.name())) : judged();
        if (unserved == null) {
            return next;
        }
        unserved = null;
        return () -> {
            listener.reachable();
            next.run();
        };
    }

    // ---- in the queue ----

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None || event.getPath() == null) {
            return;
        }
        String name = event.getPath().substring(event.getPath().lastIndexOf('/') + 1);
        steps.step(() -> {
            Node node = Node.parse(name).orElse(null);
            if (node == null || !blockers.changed(node)) {
                return NOTHING;
            }
            return event.getType() == EventType.NodeDeleted ? gone(node) : judgedIfWaiting();
        });
    }

    private Runnable judgedIfWaiting() {
        return steps.is(Phase.WAITING) ? judged() : NOTHING;
    }

    /** A watched node is gone. Its claim may have held the lock, after all before it; or it may have left early. */
    private Runnable gone(Node node) {
        blockers.gone(node);
        return steps.is(Phase.WAITING) ? confirming() : NOTHING;
    }

    /** The next step, by the claims that are before it as far as is known. */
    private Runnable judged() {
        if (cancelled) {
            return leaving(null);
        }
        if (blockers.areGone()) {
            return own.isJustRead() && own.isProved() ? granted() : confirming();
        }
        return claim.waits() ? waiting() : leaving(null);
    }

    private Runnable waiting() {
        steps.enter(Phase.WAITING);
        entries = 0;
        own.waits();
        OwnNode.Made made = own.made();
        if (made == null) {
            return NOTHING;
        }
        List<Runnable> requests = blockers.toWatch().stream()
                .map(node -> watching(made.session(), node))
                .toList();
        return () -> requests.forEach(Runnable::run);
    }

    private Runnable watching(Session now, Node blocker) {
        return steps.request(() -> now.watch(lock + "/" + blocker.name(), this), found -> switch (found.code()) {
            case OK -> NOTHING;
            case NONODE -> gone(blocker);
            default -> failed(found.code());
        });
    }

    /** Checks its own node before the grant, and lists the others unless all blockers are known to be gone. */
    private Runnable confirming() {
        OwnNode.Made made = own.made();
        if (made == null) {
            return brokenOff();
        }
        steps.enter(Phase.CONFIRMING);
        boolean unblocked = blockers.areGone();
        boolean again = own.isJustRead(); // it is first, but its session's proof is too old
        return steps.request(
                () -> again
                        ? creation.confirmLater(made.session(), made.node(), unblocked)
                        : creation.confirm(made.session(), made.node(), unblocked),
                arrival -> arrived(made.session(), arrival));
    }

    private Runnable granted() {
        OwnNode.Made made = own.made();
        if (made == null) {
            return brokenOff();
        }
        if (own.number() <= claim.floor()) {
            return leaving(context.errors().fellBack(own.number(), claim.floor()));
        }
        Grant grant = own.grant(made.session());
        return ending(() -> own.hold(grant, made, answer));
    }

    // ---- leaving the queue ----

    /** Deletes the node, then answers. */
    private Runnable leaving(@Nullable HoldfastException why) {
        OwnNode.Made made = own.made();
        if (made == null) {
            return answering(why);
        }
        steps.enter(Phase.LEAVING);
        steps.turn();
        forgetWatches();
        return () -> context.timeouts()
                .limit(own.remove(made))
                .whenComplete((removed, failure) ->
                        steps.step(() -> answering(failure == null ? why : Errors.unwrapped(failure))));
    }

    private Runnable failed(Code code) {
        boolean goesOn = claim.waits() && !cancelled;
        if (goesOn && (code == Code.QUOTAEXCEEDED || code == Code.THROTTLEDOP)) {
            return unserved(code);
        }
        if (!Errors.isOfConnection(code)) {
            return leaving(context.errors().of(code, lock));
        }
        return goesOn ? pausing(PAUSE) : unanswered(code);
    }

    /** The servers answer, but do not serve it: that is reported once, and each pause is longer than the one before. */
    private Runnable unserved(Code code) {
        boolean isNew = unserved == null;
        HoldfastException why = context.errors().of(code, lock);
        unserved = why;
        pauses = isNew ? 0 : pauses + 1;
        Runnable again = pausing(
                code == Code.QUOTAEXCEEDED
                        ? Pauses.jittered(QUOTA_PAUSE << Math.min(pauses, MOST_DOUBLINGS))
                        : Pauses.beforeRetry(pauses));
        return () -> {
            if (isNew) {
                listener.unreachable(claim.name(), why);
            }
            again.run();
        };
    }

    private Runnable pausing(long nanos) {
        Runnable again = brokenOff();
        return () -> context.time().schedule(again, Duration.ofNanos(nanos));
    }

    /** The outcome of the claim is unknown, and the caller no longer waits. */
    private Runnable unanswered(Code code) {
        HoldfastException why = unserved == null ? context.errors().of(code, lock) : unserved;
        return ending(() -> {
            own.removeUnknown();
            answer.completeExceptionally(why);
        });
    }

    /** Goes on when there is a connection, in this session or another. */
    private Runnable brokenOff() {
        if (!claim.waits()) {
            return unanswered(Code.CONNECTIONLOSS);
        }
        steps.turn();
        steps.enter(Phase.APART);
        entries = 0;
        return this::begin;
    }

    /** Answers that it has nothing, or why it failed. */
    private Runnable answering(@Nullable Throwable why) {
        return ending(why == null ? () -> answer.complete(Optional.empty()) : () -> answer.completeExceptionally(why));
    }

    /** Nothing comes after what is done then. */
    private Runnable ending(Runnable then) {
        forgetWatches();
        steps.enter(Phase.ANSWERED);
        return then;
    }

    private void forgetWatches() {
        blockers.forget(own.session());
    }
}
