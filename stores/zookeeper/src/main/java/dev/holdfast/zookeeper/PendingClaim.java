package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.zookeeper.NodeCreation.Arrival;
import dev.holdfast.zookeeper.NodeCreation.Missing;
import dev.holdfast.zookeeper.Session.Listed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * One claim, and its place in the line before a lock.
 *
 * <pre>
 *   waits   ────────────► ENTERING ── nobody in the way ──────────────────────► ANSWERED: the grant
 *                          │   ▲                                                   ▲
 *                          │   └── the session is gone, or the node ──┐            │
 *                          ▼                                          │            │
 *   tries ─► LOOKING     WAITING ── one that is watched has gone ─► CONFIRMING ────┘
 *             │            │ ▲                                        │   still there, and nobody in the way
 *             │ taken      │ └────────── others are left ─────────────┘
 *             ▼            ▼ cancel
 *          ANSWERED ◄── LEAVING: nothing, once the node is gone
 * </pre>
 *
 * <p>The recipe is the fair lock of ZooKeeper's own documentation (Hunt, Konar, Junqueira and Reed, "ZooKeeper: Wait-free
 * coordination for Internet-scale systems", 2010), with these differences. To enter is one round trip: the node is made
 * and the children are listed by requests sent back to back. What came before is remembered and can only become less. So
 * when the only one before has gone nobody is in the way any more; where there were more, the children are listed once
 * again, for those in between may have gone untold or may still be there. The node is named after the claim, so that one
 * whose making was not answered is found.
 *
 * <p>No grant without a look at the node itself, behind all that it waited for: somebody may have removed it, or it may be
 * of a session that has ended. Who comes in and is alone has just seen it among the children.
 *
 * <p>A try looks first and writes nothing when it is not its turn. A wait outlives broken connections and ended sessions;
 * with a new session it goes to the end of the line. Thread-safe.
 */
final class PendingClaim implements Pending, Watcher {
    private static final Runnable NOTHING = () -> {};
    private static final int MOST_ENTRIES = 10;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private enum Phase {
        /** Not sent, or to be sent again when the connection is back. */
        APART,
        LOOKING,
        ENTERING,
        WAITING,
        CONFIRMING,
        LEAVING,
        ANSWERED
    }

    private final Claim claim;
    private final ZooKeeperContext context;
    private final String lock;
    private final NodeCreation creation;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private final Set<Node> watched = new HashSet<>();

    private Phase phase = Phase.APART;
    /** An answer to a request of an earlier turn is ignored. */
    private int turn;

    private int entries;
    private boolean cancelled;
    private volatile boolean sent;
    private Missing missing = Missing.NOTHING;

    private @Nullable Session session;
    private @Nullable Node mine;
    /** The number of the grant; 0 unless the node has just been read. */
    private long number;

    /** Whether its node has been seen as the only one. */
    private boolean alone;

    private List<Node> before = new ArrayList<>();

    PendingClaim(Claim claim, ZooKeeperContext context) {
        this.claim = claim;
        this.context = context;
        this.lock = context.paths().lock(claim.name());
        this.creation = new NodeCreation(claim, context, lock);
    }

    @Override
    public CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    Claim claim() {
        return claim;
    }

    void begin() {
        context.connection().whenConnected(answer, now -> step(() -> begun(now)));
    }

    @Override
    public void cancel() {
        step(() -> {
            cancelled = true;
            return switch (phase) {
                case APART -> unanswered();
                case WAITING, CONFIRMING -> leaving(null);
                case LOOKING, ENTERING -> () -> context.timeouts().end(answer);
                case LEAVING, ANSWERED -> NOTHING;
            };
        });
    }

    /** The claim was answered elsewhere: it timed out, or the client is closed. Nothing of it may be left. */
    void giveUp() {
        step(() -> {
            if (phase == Phase.ANSWERED) {
                return NOTHING;
            }
            forgetWatches();
            phase = Phase.ANSWERED;
            return this::removeUnknown;
        });
    }

    /** The session has ended, and its node is deleted now or soon. A claim that leaves deletes its node in any session. */
    void ended(Session gone) {
        step(() -> {
            boolean stays = phase != Phase.ANSWERED && phase != Phase.APART && phase != Phase.LEAVING;
            return session == gone && stays ? brokenOff() : NOTHING;
        });
    }

    /** Watches its blockers again, in case a message was lost. */
    void look() {
        step(() -> {
            if (phase != Phase.WAITING) {
                return NOTHING;
            }
            watched.clear();
            return judged();
        });
    }

    /** Whether it created a node, or may have. */
    boolean wasSent() {
        return sent;
    }

    private void removeUnknown() {
        if (sent) {
            context.deleter().removeClaim(claim.name(), claim.id());
        }
    }

    // ---- joining the line ----

    private Runnable begun(Session now) {
        if (phase != Phase.APART) {
            return NOTHING;
        }
        turn++;
        boolean again = session == now && sent;
        forgetWatches();
        session = now;
        mine = null;
        if (again) {
            phase = Phase.ENTERING; // unless it was made before the connection broke
            return answered(() -> creation.seek(now), arrival -> arrived(now, arrival));
        }
        return claim.waits() ? entering(now, Missing.NOTHING) : looking(now);
    }

    /** A try: whether it would be its turn. */
    private Runnable looking(Session now) {
        phase = Phase.LOOKING;
        return answered(() -> read(now), (Listed listed) -> {
            if (listed.code() != Code.OK && listed.code() != Code.NONODE) {
                return failed(listed.code());
            }
            boolean free = Predecessors.blockers(claim.mode(), Predecessors.of(listed.children()))
                    .isEmpty();
            return free && !cancelled ? entering(now, Missing.NOTHING) : answering(Optional.empty());
        });
    }

    /** Behind a sync: a server that lags behind would report a lock as held that was released before. */
    private CompletableFuture<Listed> read(Session now) {
        context.batches().removeNow();
        now.sync(lock);
        return now.children(lock);
    }

    private Runnable entering(Session now, Missing what) {
        phase = Phase.ENTERING;
        sent = true;
        if (++entries > MOST_ENTRIES) {
            return answeringWith(
                    context.errors().unavailable("removes '" + claim.name() + "' as fast as it is made", null));
        }
        missing = what;
        return answered(
                () -> creation.enter(now, what).whenComplete((arrival, failure) -> removeIfLate(now, arrival)),
                arrival -> arrived(now, arrival));
    }

    /** If the claim was given up before its node was requested, the removal may have found nothing. */
    private void removeIfLate(Session now, @Nullable Arrival arrival) {
        if (arrival == null || !answer.isCompletedExceptionally()) {
            return;
        }
        Node made = arrival.mine();
        if (made != null) {
            removed(now, made);
        } else if (Errors.isOfConnection(arrival.code())) {
            removeUnknown();
        }
    }

    private Runnable arrived(Session now, Arrival arrival) {
        boolean lockMissing = arrival.code() == Code.NONODE;
        if (arrival.mine() == null && !lockMissing && arrival.code() != Code.OK) {
            return failed(arrival.code());
        }
        mine = arrival.mine();
        number = arrival.number();
        alone = arrival.line().isEmpty() ? alone : arrival.line().size() == 1;
        if (mine == null) {
            forgetWatches();
            return cancelled
                    ? answering(Optional.empty())
                    : entering(now, lockMissing ? missing.more() : Missing.NOTHING);
        }
        if (arrival.code() != Code.OK) {
            return failed(arrival.code());
        }
        if (mine.isBeyondTheLast()) {
            return leaving(context.errors().countedOut(claim.name()));
        }
        before = Predecessors.before(mine, arrival.line());
        if (before.size() >= Predecessors.MOST_BEFORE) {
            return leaving(context.errors().lineTooLong(claim.name()));
        }
        watched.removeIf(node -> !before.contains(node) && unwatched(node));
        return judged();
    }

    // ---- in the line ----

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None || event.getPath() == null) {
            return;
        }
        String name = event.getPath().substring(event.getPath().lastIndexOf('/') + 1);
        step(() -> {
            Node node = Node.parse(name).orElse(null);
            if (node == null || !watched.remove(node)) {
                return NOTHING;
            }
            return event.getType() == EventType.NodeDeleted ? gone(node) : judgedIfWaiting();
        });
    }

    private Runnable judgedIfWaiting() {
        return phase == Phase.WAITING ? judged() : NOTHING;
    }

    /** A watched node is gone. Its claim may have held the lock, after all before it; or it may have left early. */
    private Runnable gone(Node node) {
        before.remove(node);
        watched.remove(node);
        return phase == Phase.WAITING ? confirming() : NOTHING;
    }

    /** The next step, by the claims that are before it as far as is known. */
    private Runnable judged() {
        if (cancelled) {
            return leaving(null);
        }
        List<Node> blockers = Predecessors.blockers(claim.mode(), before);
        if (blockers.isEmpty()) {
            return number == 0 ? confirming() : granted();
        }
        return claim.waits() ? waiting(blockers) : leaving(null);
    }

    private Runnable waiting(List<Node> blockers) {
        phase = Phase.WAITING;
        entries = 0;
        number = 0;
        Session now = session;
        List<Runnable> requests = new ArrayList<>();
        for (Node blocker : blockers) {
            if (now != null && watched.add(blocker)) {
                requests.add(() -> watch(now, blocker));
            }
        }
        return () -> requests.forEach(Runnable::run);
    }

    private void watch(Session now, Node blocker) {
        int asked = turn;
        now.watch(lock + "/" + blocker.name(), this)
                .thenAccept(found -> step(() -> {
                    if (asked != turn || phase != Phase.WAITING || found.code() == Code.OK) {
                        return NOTHING;
                    }
                    return found.code() == Code.NONODE ? gone(blocker) : failed(found.code());
                }));
    }

    /** Checks its own node before the grant, and lists the others unless all blockers are known to be gone. */
    private Runnable confirming() {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return brokenOff();
        }
        phase = Phase.CONFIRMING;
        boolean unblocked = Predecessors.blockers(claim.mode(), before).isEmpty();
        return answered(
                () -> {
                    proveIfStale(now);
                    return creation.confirm(now, node, unblocked);
                },
                arrival -> arrived(now, arrival));
    }

    /** After a long wait the session's proof is old, and so would be the lease. */
    private void proveIfStale(Session now) {
        if (context.time().nanoTime() - now.begin() > now.lease().toNanos() / 3) {
            now.prove(context.paths().locks());
        }
    }

    private Runnable granted() {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return brokenOff();
        }
        if (number <= claim.floor()) {
            return leaving(context.errors().fellBack(number, claim.floor()));
        }
        Grant grant = new Grant(claim.id(), claim.names(), claim.mode(), now.lease(), List.of(number), now.begin());
        forgetWatches();
        phase = Phase.ANSWERED;
        return () -> {
            HeldNode heldNode = new HeldNode(grant, lock + "/" + node.name(), now, alone, context.heldNodes());
            context.heldNodes().add(heldNode);
            if (answer.complete(Optional.of(grant))) {
                context.heldNodes().check(heldNode);
            } else {
                context.heldNodes().remove(claim.id());
                removed(now, node);
            }
        };
    }

    // ---- leaving the line ----

    /** Deletes the node, then answers. */
    private Runnable leaving(@Nullable HoldfastException why) {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return why == null ? answering(Optional.empty()) : answeringWith(why);
        }
        phase = Phase.LEAVING;
        turn++;
        forgetWatches();
        return () -> context.timeouts()
                .limit(removed(now, node))
                .whenComplete((removed, failure) -> step(() -> {
                    if (failure != null) {
                        return answeringWith(Errors.unwrapped(failure));
                    }
                    return why == null ? answering(Optional.empty()) : answeringWith(why);
                }));
    }

    private CompletableFuture<Boolean> removed(Session now, Node node) {
        return context.deleter().remember(claim.id(), context.deleter().remove(now, lock + "/" + node.name()));
    }

    private Runnable failed(Code code) {
        if (!Errors.isOfConnection(code)) {
            HoldfastException refused = context.errors().of(code, lock);
            return mine == null ? answeringWith(refused) : leaving(refused);
        }
        if (!claim.waits() || cancelled) {
            return unanswered();
        }
        Runnable again = brokenOff();
        return () -> context.time().schedule(again, PAUSE); // of a server that has too much to do
    }

    /** The outcome of the claim is unknown, and the caller no longer waits. */
    private Runnable unanswered() {
        Runnable tell = answeringWith(context.errors().of(Code.CONNECTIONLOSS, lock));
        return () -> {
            removeUnknown();
            tell.run();
        };
    }

    /** Goes on when there is a connection, in this session or another. */
    private Runnable brokenOff() {
        if (!claim.waits()) {
            return unanswered();
        }
        turn++;
        phase = Phase.APART;
        entries = 0;
        return this::begin;
    }

    private Runnable answering(Optional<Grant> outcome) {
        forgetWatches();
        phase = Phase.ANSWERED;
        return () -> answer.complete(outcome);
    }

    private Runnable answeringWith(Throwable why) {
        forgetWatches();
        phase = Phase.ANSWERED;
        return () -> answer.completeExceptionally(why);
    }

    private void forgetWatches() {
        watched.removeIf(this::unwatched);
    }

    private boolean unwatched(Node node) {
        Session now = session;
        if (now != null) {
            now.unwatch(lock + "/" + node.name(), this);
        }
        return true;
    }

    // ---- one step at a time ----

    /** The step after an answer. */
    private interface Next<T> {
        Runnable step(T said);
    }

    private <T> Runnable answered(Supplier<CompletableFuture<T>> request, Next<T> next) {
        int asked = turn;
        Phase then = phase;
        return () -> guarded(request)
                .thenAccept(said -> step(() -> asked == turn && phase == then ? next.step(said) : NOTHING))
                .exceptionally(broken -> {
                    answer.completeExceptionally(Errors.unwrapped(broken)); // rather than never
                    return null;
                });
    }

    /** A request that throws, as the application's ACLs may, is one that failed. */
    private static <T> CompletableFuture<T> guarded(Supplier<CompletableFuture<T>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error broken) {
            return CompletableFuture.failedFuture(broken);
        }
    }

    private void step(Supplier<Runnable> step) {
        Runnable then;
        mutex.lock();
        try {
            then = step.get();
        } finally {
            mutex.unlock();
        }
        then.run();
    }
}
