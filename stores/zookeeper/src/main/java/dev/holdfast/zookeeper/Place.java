package dev.holdfast.zookeeper;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.zookeeper.Session.Found;
import dev.holdfast.zookeeper.Session.Listed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
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
 *   tries ─► LOOKING     WAITING ── those watched have gone ──► CONFIRMING ── mine ┘
 *             │ taken      │ cancel
 *             ▼            ▼
 *          ANSWERED ◄── LEAVING: nothing, once the node is gone
 * </pre>
 *
 * <p>The recipe is the fair lock of ZooKeeper's own documentation (Hunt, Konar, Junqueira and Reed, "ZooKeeper: Wait-free
 * coordination for Internet-scale systems", 2010), with these differences. To enter is one round trip: the node is made
 * and the children are listed by requests sent back to back. What came before is remembered and can only become less, so
 * the children are never listed again. The node is named after the claim, so that one whose making was not answered is
 * found; and it is looked at once more before a claim that has waited is granted, since somebody may have removed it.
 *
 * <p>A try looks first and writes nothing when it is not its turn. A wait outlives broken connections and ended sessions;
 * with a new session it goes to the end of the line. Thread-safe.
 */
final class Place implements Pending, Watcher {
    private static final Runnable NOTHING = () -> {};
    private static final int MOST_ENTRIES = 10;

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
    private final Locks locks;
    private final String lock;
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
    private List<Node> before = new ArrayList<>();

    Place(Claim claim, Locks locks) {
        this.claim = claim;
        this.locks = locks;
        this.lock = locks.paths().lock(claim.name());
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
                case WAITING, CONFIRMING -> leaving(null);
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
        before = new ArrayList<>();
        watched.clear();
        mine = null;
        if (again) {
            return seeking(now);
        }
        return claim.waits() ? entering(now, false) : looking(now);
    }

    /** A try: whether it would be its turn. */
    private Runnable looking(Session now) {
        phase = Phase.LOOKING;
        return answered(() -> now.children(lock), (Listed listed) -> {
            if (listed.code() != Code.OK && listed.code() != Code.NONODE) {
                return failed(listed.code());
            }
            boolean free =
                    Line.blockers(claim.mode(), Line.of(listed.children())).isEmpty();
            return free && !cancelled ? entering(now, false) : answering(Optional.empty());
        });
    }

    /** Makes the node and lists the children; where the lock has none yet, it is made first. */
    private Runnable entering(Session now, boolean withLock) {
        phase = Phase.ENTERING;
        if (++entries > MOST_ENTRIES) {
            return answeringWith(
                    locks.errors().unavailable("removes '" + claim.name() + "' as fast as it is made", null));
        }
        return () -> {
            if (withLock) {
                now.create(lock, "", locks.acl(lock), CreateMode.CONTAINER)
                        .thenAccept(made -> step(() -> lockMade(made)));
            }
            String path = lock + "/" + Node.prefix(claim);
            String text = new Holders(now.lease(), claim.holder()).write();
            CompletableFuture<Found> made = now.create(path, text, locks.acl(path), CreateMode.EPHEMERAL_SEQUENTIAL);
            int asked = turn;
            now.children(lock).thenAccept(listed -> step(() -> asked == turn ? entered(now, made, listed) : NOTHING));
        };
    }

    private Runnable lockMade(Found made) {
        boolean fine = made.code() == Code.OK || made.code() == Code.NODEEXISTS || Errors.isOfConnection(made.code());
        return fine || phase != Phase.ENTERING
                ? NOTHING
                : answeringWith(locks.errors().of(made.code(), lock));
    }

    private Runnable entered(Session now, CompletableFuture<Found> making, Listed listed) {
        Found made = making.join(); // answered before the list
        Stat stat = made.stat();
        if (phase == Phase.ANSWERED) {
            return made.code() == Code.OK ? () -> locks.removals().remove(now, made.path()) : NOTHING;
        }
        if (made.code() == Code.NONODE) {
            return cancelled ? answering(Optional.empty()) : entering(now, true);
        }
        if (made.code() != Code.OK) {
            return failed(made.code());
        }
        mine = Node.parse(made.path().substring(lock.length() + 1)).orElseThrow();
        if (listed.code() != Code.OK || stat == null || stat.getEphemeralOwner() != now.id()) {
            return failed(listed.code() == Code.OK ? Code.SESSIONMOVED : listed.code());
        }
        if (mine.isBeyondTheLast()) {
            return leaving(countedOut());
        }
        before = Line.before(mine, listed.children());
        if (Line.blockers(claim.mode(), before).isEmpty() && !cancelled) {
            return granted(stat);
        }
        return judged();
    }

    /** After a broken connection: whether the node was made. */
    private Runnable seeking(Session now) {
        phase = Phase.ENTERING;
        return answered(() -> now.sync(lock).thenCombine(now.children(lock), Seen::new), (Seen seen) -> {
            Code code = seen.synced() == Code.OK ? seen.listed().code() : seen.synced();
            if (code == Code.NONODE) {
                return cancelled ? answering(Optional.empty()) : entering(now, true);
            }
            if (code != Code.OK) {
                return failed(code);
            }
            mine = Line.find(claim.id(), seen.listed().children()).orElse(null);
            if (mine == null) {
                return cancelled ? answering(Optional.empty()) : entering(now, false);
            }
            if (mine.isBeyondTheLast()) {
                return leaving(countedOut());
            }
            before = Line.before(mine, seen.listed().children());
            return judged();
        });
    }

    private record Seen(Code synced, Listed listed) {}

    /** The lock's node cannot number its claims for much longer. */
    private HoldfastException countedOut() {
        return locks.errors()
                .refused(
                        "has numbered as many claims of '" + claim.name() + "' as it can: let the lock be unused for a"
                                + " few minutes, so that its node is removed and the count begins anew, or use another"
                                + " name",
                        null);
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
            if (phase != Phase.WAITING || node == null || !watched.remove(node)) {
                return NOTHING;
            }
            if (event.getType() == EventType.NodeDeleted) {
                before.remove(node);
            }
            return judged();
        });
    }

    /** Whose turn it is, as far as is known. */
    private Runnable judged() {
        if (cancelled) {
            return leaving(null);
        }
        List<Node> blockers = Line.blockers(claim.mode(), before);
        if (blockers.isEmpty()) {
            return confirming();
        }
        if (!claim.waits()) {
            return leaving(null);
        }
        phase = Phase.WAITING;
        Session now = session;
        Runnable watch = NOTHING;
        for (Node blocker : blockers) {
            if (now != null && watched.add(blocker)) {
                Runnable earlier = watch;
                watch = () -> {
                    earlier.run();
                    watch(now, blocker);
                };
            }
        }
        return watch;
    }

    private void watch(Session now, Node blocker) {
        int asked = turn;
        now.watch(lock + "/" + blocker.name(), this)
                .thenAccept(found -> step(() -> {
                    if (asked != turn || phase != Phase.WAITING || found.code() == Code.OK) {
                        return NOTHING;
                    }
                    if (found.code() != Code.NONODE) {
                        return failed(found.code());
                    }
                    before.remove(blocker);
                    watched.remove(blocker);
                    return judged();
                }));
    }

    /** Everybody before has gone: the node is looked at once more, and the session where that was long ago. */
    private Runnable confirming() {
        phase = Phase.CONFIRMING;
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return brokenOff();
        }
        long age = locks.time().nanoTime() - now.begin();
        boolean stale = age > now.lease().toNanos() / 3;
        return answered(
                () -> {
                    if (stale) {
                        now.sync(lock);
                    }
                    return now.exists(lock + "/" + node.name());
                },
                (Found found) -> {
                    Stat stat = found.stat();
                    if (found.code() == Code.OK && stat != null && stat.getEphemeralOwner() == now.id()) {
                        return granted(stat);
                    }
                    return found.code() == Code.NONODE ? brokenOff() : failed(found.code());
                });
    }

    private Runnable granted(Stat stat) {
        Session now = session;
        Node node = mine;
        if (now == null || node == null) {
            return brokenOff();
        }
        if (stat.getCzxid() <= claim.floor()) {
            return leaving(new StoreRefusedException(locks.errors().store() + " counts its changes from "
                    + stat.getCzxid() + ", but has given this client the grant number " + claim.floor()
                    + " before: was its data removed, or an old copy restored? Restart this client, and empty the"
                    + " fences that saw the higher tokens"));
        }
        Grant grant =
                new Grant(claim.id(), claim.names(), claim.mode(), now.lease(), List.of(stat.getCzxid()), now.begin());
        phase = Phase.ANSWERED;
        return () -> {
            Standing standing = new Standing(grant, lock + "/" + node.name(), now, locks.standings());
            locks.standings().add(standing);
            if (answer.complete(Optional.of(grant))) {
                locks.standings().check(standing);
            } else {
                locks.standings().remove(claim.id());
                locks.removals().remove(now, standing.path());
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
        return claim.waits() && !cancelled ? brokenOff() : unanswered();
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
