package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.zookeeper.Entrance.Arrival;
import dev.holdfast.zookeeper.Session.Found;
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
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One claim, and its place in the line before a lock.
 *
 * <pre>
 *   waits   ────────────► ENTERING ── nobody in the way ──────────────────────► ANSWERED: the grant
 *                          │   ▲                                                   ▲
 *                          │   └─ the session is gone, or the node ──┐             │
 *                          ▼                                         │             │
 *   tries ─► LOOKING     WAITING ── those watched have gone ──► CONFIRMING ── mine ┤
 *             │            │ ▲ │            └── and nothing is in doubt ───────────┤
 *             │            │ │ └ one has gone ─► RECOUNTING ── nobody is left ─────┘
 *             │            │ └── others are left ──┘
 *             │ taken      │ cancel
 *             ▼            ▼
 *          ANSWERED ◄── LEAVING: nothing, once the node is gone
 * </pre>
 *
 * <p>The recipe is the fair lock of ZooKeeper's own documentation (Hunt, Konar, Junqueira and Reed, "ZooKeeper: Wait-free
 * coordination for Internet-scale systems", 2010), with these differences. To enter is one round trip: the node is made
 * and the children are listed by requests sent back to back. What came before is remembered and can only become less. So
 * when the only one before has gone the claim is granted without another question; where there were more, the children are
 * listed once again, for those in between may have gone untold or may still be there. The node is named after the claim, so
 * that one whose making was not answered is found; and the node of a claim that has waited is looked at again, by that
 * list or behind the grant, since somebody may have removed it.
 *
 * <p>A try looks first and writes nothing when it is not its turn. A wait outlives broken connections and ended sessions;
 * with a new session it goes to the end of the line. Thread-safe.
 */
final class Place implements Pending, Watcher {
    private static final Runnable NOTHING = () -> {};
    private static final int MOST_ENTRIES = 10;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private enum Phase {
        /** Not sent, or to be sent again when the connection is back. */
        APART,
        LOOKING,
        ENTERING,
        WAITING,
        RECOUNTING,
        CONFIRMING,
        LEAVING,
        ANSWERED
    }

    private final Claim claim;
    private final Locks locks;
    private final String lock;
    private final Entrance entrance;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private final Set<Node> watched = new HashSet<>();

    private Phase phase = Phase.APART;
    /** Answers of another turn come too late. */
    private int turn;

    private int entries;
    private boolean cancelled;
    private @Nullable Session session;
    private @Nullable Node mine;
    /** Of the grant to come; 0 while it is not known. */
    private long number;

    private List<Node> before = new ArrayList<>();

    Place(Claim claim, Locks locks) {
        this.claim = claim;
        this.locks = locks;
        this.lock = locks.paths().lock(claim.name());
        this.entrance = new Entrance(claim, locks, lock);
    }

    @Override
    public CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    Claim claim() {
        return claim;
    }

    void begin() {
        locks.connection().whenConnected(now -> step(() -> begun(now)));
    }

    @Override
    public void cancel() {
        step(() -> {
            cancelled = true;
            return switch (phase) {
                case APART -> unanswered();
                case WAITING, RECOUNTING, CONFIRMING -> leaving(null);
                case LOOKING, ENTERING, LEAVING, ANSWERED -> NOTHING;
            };
        });
    }

    /** Somebody else has answered: too late, or the client is closed. Nothing of the claim may stay. */
    void giveUp() {
        step(() -> {
            if (phase == Phase.ANSWERED) {
                return NOTHING;
            }
            boolean entered = phase != Phase.LOOKING;
            phase = Phase.ANSWERED;
            return entered ? this::removeUnknown : NOTHING;
        });
    }

    /** The session is gone, and the node with it. */
    void ended(Session gone) {
        step(() -> session == gone && phase != Phase.ANSWERED && phase != Phase.APART ? brokenOff() : NOTHING);
    }

    /** Looks again at those in the way, in case a message was lost. */
    void look() {
        step(() -> {
            if (phase != Phase.WAITING) {
                return NOTHING;
            }
            watched.clear();
            return judged();
        });
    }

    // ---- to come in ----

    private Runnable begun(Session now) {
        if (phase != Phase.APART) {
            return NOTHING;
        }
        turn++;
        boolean again = session == now;
        session = now;
        mine = null;
        watched.clear();
        if (again) {
            phase = Phase.ENTERING; // unless it was made before the connection broke
            return answered(() -> entrance.seek(now), arrival -> arrived(now, arrival));
        }
        return claim.waits() ? entering(now, false) : looking(now);
    }

    /** A try: whether it would be its turn. */
    private Runnable looking(Session now) {
        phase = Phase.LOOKING;
        return answered(() -> read(now), (Listed listed) -> {
            if (listed.code() != Code.OK && listed.code() != Code.NONODE) {
                return failed(listed.code());
            }
            boolean free =
                    Line.blockers(claim.mode(), Line.of(listed.children())).isEmpty();
            return free && !cancelled ? entering(now, false) : answering(Optional.empty());
        });
    }

    /** Behind a sync: a server that lags behind would have a lock taken that was given back before. */
    private CompletableFuture<Listed> read(Session now) {
        locks.exchanges().removeNow();
        now.sync(lock);
        return now.children(lock);
    }

    private Runnable entering(Session now, boolean withLock) {
        phase = Phase.ENTERING;
        if (++entries > MOST_ENTRIES) {
            return answeringWith(
                    locks.errors().unavailable("removes '" + claim.name() + "' as fast as it is made", null));
        }
        return answered(() -> entrance.enter(now, withLock), arrival -> arrived(now, arrival));
    }

    private Runnable arrived(Session now, Arrival arrival) {
        mine = arrival.mine();
        number = arrival.number();
        boolean nothingThere = arrival.code() == Code.NONODE;
        if (mine == null && (nothingThere || arrival.code() == Code.OK)) {
            return cancelled ? answering(Optional.empty()) : entering(now, nothingThere);
        }
        if (mine == null || arrival.code() != Code.OK) {
            return failed(arrival.code());
        }
        if (mine.isBeyondTheLast()) {
            return leaving(locks.errors().countedOut(claim.name()));
        }
        before = Line.before(mine, arrival.line());
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

    /** One that was waited for. If it held, so have all before it, and they have gone as well; but it may have given up. */
    private Runnable gone(Node node) {
        before.remove(node);
        watched.remove(node);
        Session now = session;
        boolean sure = Line.blockers(claim.mode(), before).isEmpty();
        if (phase != Phase.WAITING || sure || now == null || cancelled) {
            return judgedIfWaiting();
        }
        phase = Phase.RECOUNTING;
        return answered(() -> now.children(lock), listed -> recounted(listed));
    }

    private Runnable recounted(Listed listed) {
        if (listed.code() != Code.OK) {
            return listed.code() == Code.NONODE ? brokenOff() : failed(listed.code());
        }
        if (mine == null || !listed.children().contains(mine.name())) {
            return brokenOff(); // somebody removed it
        }
        Set<String> there = Set.copyOf(listed.children());
        before.removeIf(node -> !there.contains(node.name()));
        watched.retainAll(before);
        return judged();
    }

    /** Whose turn it is, as far as is known. */
    private Runnable judged() {
        if (cancelled) {
            return leaving(null);
        }
        List<Node> blockers = Line.blockers(claim.mode(), before);
        if (blockers.isEmpty()) {
            return itsTurn();
        }
        if (!claim.waits()) {
            return leaving(null);
        }
        boolean entered = phase == Phase.ENTERING;
        phase = Phase.WAITING;
        Session now = session;
        Node node = mine;
        List<Runnable> requests = new ArrayList<>();
        for (Node blocker : blockers) {
            if (now != null && watched.add(blocker)) {
                requests.add(() -> watch(now, blocker));
            }
        }
        if (entered && number == 0 && now != null && node != null) {
            requests.add(() -> learnNumber(now, node));
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

    /** While it waits, so that it need not wait for that when its turn comes. */
    private void learnNumber(Session now, Node node) {
        int asked = turn;
        now.exists(lock + "/" + node.name())
                .thenAccept(found -> step(() -> {
                    Stat stat = found.stat();
                    if (asked == turn && phase == Phase.WAITING && stat != null) {
                        number = stat.getCzxid();
                    }
                    return NOTHING;
                }));
    }

    /**
     * Nobody is before it. One who waited for long, or is not sure of its number, asks before it takes that for the grant;
     * all others who waited ask behind it.
     */
    private Runnable itsTurn() {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return brokenOff();
        }
        boolean stale = phase != Phase.ENTERING
                && locks.time().nanoTime() - now.begin() > now.lease().toNanos() / 3;
        if (number != 0 && !stale) {
            return granted(now, node, phase == Phase.WAITING);
        }
        phase = Phase.CONFIRMING;
        return answered(
                () -> {
                    if (stale) {
                        now.prove(locks.paths().locks());
                    }
                    return now.exists(lock + "/" + node.name());
                },
                (Found found) -> {
                    Stat stat = found.stat();
                    if (found.code() == Code.OK && stat != null && stat.getEphemeralOwner() == now.id()) {
                        number = number == 0 ? stat.getCzxid() : number;
                        return granted(now, node, false);
                    }
                    return found.code() == Code.NONODE ? brokenOff() : failed(found.code());
                });
    }

    private Runnable granted(Session now, Node node, boolean waited) {
        if (number <= claim.floor()) {
            return leaving(locks.errors().fellBack(number, claim.floor()));
        }
        Grant grant = new Grant(claim.id(), claim.names(), claim.mode(), now.lease(), List.of(number), now.begin());
        phase = Phase.ANSWERED;
        return () -> {
            Standing standing = new Standing(grant, lock + "/" + node.name(), now, locks.standings());
            locks.standings().add(standing);
            if (!answer.complete(Optional.of(grant))) {
                locks.standings().remove(claim.id());
                locks.removals().remove(now, standing.path());
                return;
            }
            locks.standings().check(standing);
            if (waited) {
                standing.lookBehind();
            }
        };
    }

    // ---- to go ----

    /** Takes the node away, and answers then. */
    private Runnable leaving(@Nullable HoldfastException why) {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return why == null ? answering(Optional.empty()) : answeringWith(why);
        }
        phase = Phase.LEAVING;
        turn++;
        return () -> locks.timeouts()
                .limit(locks.removals().remove(now, lock + "/" + node.name()))
                .whenComplete((removed, failure) -> step(() -> {
                    if (failure != null) {
                        return answeringWith(Errors.unwrapped(failure));
                    }
                    return why == null ? answering(Optional.empty()) : answeringWith(why);
                }));
    }

    private Runnable failed(Code code) {
        if (!Errors.isOfConnection(code)) {
            HoldfastException refused = locks.errors().of(code, lock);
            return mine == null ? answeringWith(refused) : leaving(refused);
        }
        if (!claim.waits() || cancelled) {
            return unanswered();
        }
        Runnable again = brokenOff();
        return () -> locks.time().schedule(again, PAUSE); // of a server that has too much to do
    }

    /** Nobody knows what became of the claim, and nobody waits to know. */
    private Runnable unanswered() {
        boolean asked = session != null;
        Runnable tell = answeringWith(locks.errors().of(Code.CONNECTIONLOSS, lock));
        return () -> {
            if (asked) {
                removeUnknown();
            }
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

    private void removeUnknown() {
        locks.removals().removeClaim(claim.name(), claim.id());
    }

    private Runnable answering(Optional<Grant> outcome) {
        phase = Phase.ANSWERED;
        return () -> answer.complete(outcome);
    }

    private Runnable answeringWith(Throwable why) {
        phase = Phase.ANSWERED;
        return () -> answer.completeExceptionally(why);
    }

    // ---- one step at a time ----

    /** What follows an answer. */
    private interface Next<T> {
        Runnable step(T said);
    }

    private <T> Runnable answered(Supplier<CompletableFuture<T>> request, Next<T> next) {
        int asked = turn;
        Phase then = phase;
        return () -> request.get()
                .thenAccept(said -> step(() -> asked == turn && phase == then ? next.step(said) : NOTHING));
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
