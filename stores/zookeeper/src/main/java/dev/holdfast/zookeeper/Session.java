package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One session with the servers, over all its connections, and the requests that can be made in it. Requests go out in the
 * order they are made, without waiting for each other, and are answered in that order, on the session's event thread;
 * each is answered with a code, never exceptionally.
 *
 * <p>An Error, such as of memory, that ends the reading of a reply makes it one that was lost: the request may have been
 * carried out or not. The client library reports a reply that it has read half as a success without what comes last in it,
 * and drops the connection afterwards.
 *
 * <p>Thread-safe.
 */
final class Session {
    private static final String ROOT = "/";
    /**
     * Beats in a session's time-out. At most 1.5 beats pass between two answers: less than the third of the time-out after
     * which the client library pings.
     */
    private static final int BEATS = 5;

    private final ZooKeeper zooKeeper;
    private final ElapsedTime elapsed;
    private final long id;
    private final int timeoutMillis;
    private final Duration lease;
    private final SessionProof proof;
    private final NodeWatches watches = new NodeWatches();
    private final WatchedQueues queues = new WatchedQueues();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger connectionsLost = new AtomicInteger();
    private volatile boolean connected = true;

    /** A node that was searched for or created, under the path that the servers gave it. */
    record Found(Code code, String path, @Nullable Stat stat) {
        static Found lost(String path) {
            return new Found(Code.CONNECTIONLOSS, path, null);
        }
    }

    /**
     * The children of a node.
     *
     * @param lastChange the transaction that created or deleted a child most recently
     * @param created how many children the node has ever had; the next sequential one gets this number
     */
    record Listed(Code code, List<String> children, long lastChange, int created) {
        static final Listed NOTHING = failed(Code.OK);
        static final Listed LOST = failed(Code.CONNECTIONLOSS);

        static Listed failed(Code code) {
            return new Listed(code, List.of(), 0, 0);
        }

        static Listed of(int rc, @Nullable List<String> children, @Nullable Stat stat) {
            return children == null || stat == null
                    ? failed(codeOf(rc, null))
                    : new Listed(Code.get(rc), children, stat.getPzxid(), created(stat));
        }

        /** The servers report creations and deletions in one sum; every child that is not there now was deleted. */
        private static int created(Stat stat) {
            return (stat.getCversion() + stat.getNumChildren()) >>> 1;
        }
    }

    /** The text of a node. */
    record Read(Code code, String text, @Nullable Stat stat) {}

    /**
     * @param tick of the servers, or longer
     * @param opened when the session was opened, at the earliest
     */
    Session(ZooKeeper zooKeeper, ElapsedTime elapsed, Duration tick, Moment opened) {
        this.zooKeeper = zooKeeper;
        this.elapsed = elapsed;
        this.id = zooKeeper.getSessionId();
        this.timeoutMillis = zooKeeper.getSessionTimeout();
        Duration timeout = Duration.ofMillis(timeoutMillis);
        Duration most = timeout.dividedBy(2); // servers allow no session shorter than two ticks
        Duration counted = tick.compareTo(most) > 0 ? most : tick;
        this.lease = timeout.minus(counted);
        this.proof = new SessionProof(counted, opened);
    }

    /**
     * Whether a handle, which has connected again, belongs to this session. Servers with another configuration may have
     * made its time-out shorter: then leases that were counted from the longer one no longer hold, and it has ended.
     */
    boolean isOf(ZooKeeper handle) {
        return zooKeeper == handle && id == handle.getSessionId() && handle.getSessionTimeout() >= timeoutMillis;
    }

    /** The owner of the nodes that it creates. */
    long id() {
        return id;
    }

    /** How long a grant lives from {@link #begin()} on. */
    Duration lease() {
        return lease;
    }

    /** The beginning of the lease that is proved by now, by {@code nanoTime}; earlier for each sleep of the machine since. */
    long begin() {
        return proof.begin() - elapsed.slept();
    }

    /** Completes once a request that is made for the proof alone proves something: sent earlier, it would prove hardly more. */
    void afterPutOff(CompletableFuture<Session> ready) {
        elapsed.schedule(() -> ready.complete(this), Duration.ofNanos(proof.putOff(elapsed.now())));
    }

    /** Whether the proof is recent enough to leave a grant a third of its lease. */
    boolean isFresh() {
        return elapsed.now().elapsed() - proof.begin() < lease.toNanos() * 2 / 3;
    }

    /** Reads the root node, unless something was answered within the last half beat. */
    void stayCounted() {
        if (elapsed.nanoTime() - proof.newest() > beat().toNanos() / 2) {
            CompletableFuture<Found> unused = exists(ROOT);
        }
    }

    /** The interval at which {@link #stayCounted} is called. */
    Duration beat() {
        return Duration.ofMillis(timeoutMillis / BEATS);
    }

    /** Whether requests can be sent now. A handle that was given up fails each at once, before its event arrives. */
    boolean isConnected() {
        return connected && isAlive() && !ended.get();
    }

    /** Whether the client library has not given it up. */
    boolean isAlive() {
        return zooKeeper.getState().isAlive();
    }

    /** Whether it may be connected again: the client library says so, also for a while after the connection broke. */
    boolean mayBeBack() {
        return zooKeeper.getState() == ZooKeeper.States.CONNECTED;
    }

    /** Whether it is gone for good, with all its nodes. */
    boolean hasEnded() {
        return ended.get();
    }

    void disconnected() {
        connected = false;
        connectionsLost.incrementAndGet();
        queues.forgetAll(); // here, before any answer on the next connection: the event of that one may come after some
    }

    /** How many connections of it were lost: a watch that was set before may be gone. */
    int connectionsLost() {
        return connectionsLost.get();
    }

    void reconnected(Moment since) {
        proof.reconnected(since);
        connected = true;
    }

    /** Marks the session as ended; false if it was before. */
    boolean end() {
        return ended.compareAndSet(false, true);
    }

    /**
     * Answers a request by what is made of its reply. If that throws, the reply is lost, and the client library logs what was
     * thrown: a request without an answer would have its caller wait for ever.
     *
     * @param lost made before the request was sent: there may be no memory for it now
     */
    private static <T> void answer(CompletableFuture<T> request, T lost, Supplier<T> reply) {
        T answer = lost;
        try {
            answer = reply.get();
        } finally {
            request.complete(answer);
        }
    }

    /** What a reply says, of which this is the last part: a success that lacks it was read half. */
    private static Code codeOf(int rc, @Nullable Object last) {
        Code code = Code.get(rc);
        return code == Code.OK && last == null ? Code.CONNECTIONLOSS : code;
    }

    // ---- agreed on by a majority of the servers ----

    CompletableFuture<Found> create(String path, String text, List<ACL> acl, CreateMode mode) {
        CompletableFuture<Found> made = new CompletableFuture<>();
        Found lost = Found.lost(path);
        Moment sent = elapsed.now();
        Create2Callback answered = (rc, asked, context, name, stat) ->
                answer(made, lost, () -> new Found(proved(codeOf(rc, stat), sent), name == null ? path : name, stat));
        zooKeeper.create(path, text.getBytes(UTF_8), acl, mode, answered, null);
        return made;
    }

    CompletableFuture<Code> delete(String path) {
        return delete(path, -1);
    }

    /** Deletes one version of a node alone. */
    CompletableFuture<Code> delete(String path, int version) {
        CompletableFuture<Code> deleted = new CompletableFuture<>();
        Moment sent = elapsed.now();
        VoidCallback answered =
                (rc, asked, context) -> answer(deleted, Code.CONNECTIONLOSS, () -> proved(Code.get(rc), sent));
        zooKeeper.delete(path, version, answered, null);
        return deleted;
    }

    /** Deletes one node and makes an ephemeral sequential one, both or neither; the servers answer without a stat. */
    CompletableFuture<Found> replace(String old, String path, String text, List<ACL> acl) {
        return create(Op.delete(old, -1), path, text, acl);
    }

    /**
     * Makes a container and an ephemeral sequential node in it, both or neither. A container that never had a child would
     * stay for ever.
     */
    CompletableFuture<Found> createBelow(
            String container, List<ACL> containerAcl, String path, String text, List<ACL> acl) {
        return create(Op.create(container, new byte[0], containerAcl, CreateMode.CONTAINER), path, text, acl);
    }

    private CompletableFuture<Found> create(Op before, String path, String text, List<ACL> acl) {
        CompletableFuture<Found> created = new CompletableFuture<>();
        Found lost = Found.lost(path);
        Moment sent = elapsed.now();
        MultiCallback answered = (rc, asked, context, results) -> answer(created, lost, () -> {
            CreateResult made = last(results, 2) instanceof CreateResult node ? node : null;
            Code code = proved(codeOf(rc, made), sent);
            return made == null
                    ? new Found(code, path, null)
                    : new Found(code, made.getPath(), madeWith(results.get(0)));
        });
        Op create = Op.create(path, text.getBytes(UTF_8), acl, CreateMode.EPHEMERAL_SEQUENTIAL);
        zooKeeper.multi(List.of(before, create), answered, null);
        return created;
    }

    /** The stat of an ephemeral node, read from that of the container that the same transaction created. */
    private @Nullable Stat madeWith(OpResult other) {
        if (!(other instanceof CreateResult container) || container.getStat() == null) {
            return null;
        }
        Stat stat = new Stat();
        stat.setCzxid(container.getStat().getCzxid());
        stat.setEphemeralOwner(id);
        return stat;
    }

    CompletableFuture<Found> write(String path, String text) {
        return write(path, text, -1);
    }

    /** Writes over one version of a node alone. */
    CompletableFuture<Found> write(String path, String text, int version) {
        CompletableFuture<Found> written = new CompletableFuture<>();
        Found lost = Found.lost(path);
        Moment sent = elapsed.now();
        StatCallback answered = (rc, asked, context, stat) ->
                answer(written, lost, () -> new Found(proved(codeOf(rc, stat), sent), path, stat));
        zooKeeper.setData(path, text.getBytes(UTF_8), version, answered, null);
        return written;
    }

    /**
     * Has a majority agree to a change that changes nothing. What is read after it is no older than this request; and
     * unlike {@link #sync}, it is not answered by a leader that the others have left.
     *
     * @param path of any node that is there
     */
    CompletableFuture<Code> prove(String path) {
        CompletableFuture<Code> answer = new CompletableFuture<>();
        Moment sent = elapsed.now();
        MultiCallback answered = (rc, asked, context, results) ->
                answer(answer, Code.CONNECTIONLOSS, () -> proved(codeOf(rc, last(results, 1)), sent));
        zooKeeper.multi(List.of(Op.check(path, -1)), answered, null);
        return answer;
    }

    /** The result of the last step of several; null if the reply has fewer, or says that they failed. */
    private static @Nullable OpResult last(@Nullable List<OpResult> results, int steps) {
        return results == null || results.size() < steps ? null : results.get(steps - 1);
    }

    private Code proved(Code code, Moment sent) {
        if (code == Code.OK) {
            proof.agreed(sent, elapsed.nanoTime());
        }
        return code;
    }

    // ---- answered by a server alone ----

    /** A read after it returns what the leader has, or a server that believes to be the leader. */
    void sync(String path) {
        zooKeeper.sync(path, (rc, asked, context) -> {}, null);
    }

    CompletableFuture<Listed> children(String path) {
        CompletableFuture<Listed> listed = new CompletableFuture<>();
        Children2Callback answered = (rc, asked, context, children, stat) ->
                answer(listed, Listed.LOST, () -> Listed.of(rc, children, stat));
        zooKeeper.getChildren(path, false, answered, null);
        return listed;
    }

    /**
     * The children of a node, no older than this request.
     *
     * @param there the path of any node that is there
     */
    CompletableFuture<Listed> provedChildren(String there, String path) {
        return prove(there)
                .thenCombine(children(path), (code, listed) -> code == Code.OK ? listed : Listed.failed(code));
    }

    /** The children of a node that is there, and an event at their next change. */
    CompletableFuture<Listed> watchChildren(String path, Watcher watcher) {
        CompletableFuture<Listed> listed = new CompletableFuture<>();
        Object request = watches.add(path, watcher);
        Children2Callback answered = (rc, asked, context, children, stat) -> answer(listed, Listed.LOST, () -> {
            Listed list = Listed.of(rc, children, stat);
            watched(list.code(), path, watcher, request);
            return list;
        });
        zooKeeper.getChildren(path, watches, answered, null);
        return listed;
    }

    CompletableFuture<Found> exists(String path) {
        CompletableFuture<Found> found = new CompletableFuture<>();
        Found lost = Found.lost(path);
        Moment sent = elapsed.now();
        StatCallback answered = (rc, asked, context, stat) -> answer(found, lost, () -> {
            Code code = codeOf(rc, stat);
            if (!Errors.isOfConnection(code)) {
                proof.answered(sent, elapsed.nanoTime());
            }
            return new Found(code, path, stat);
        });
        zooKeeper.exists(path, false, answered, null);
        return found;
    }

    /**
     * Watches a node that is there. Its data are asked for only because the server would keep a watch on a node that is
     * not there, for the session's life, if it were asked whether it exists.
     */
    CompletableFuture<Found> watch(String path, Watcher watcher) {
        CompletableFuture<Found> found = new CompletableFuture<>();
        Found lost = Found.lost(path);
        Object request = watches.add(path, watcher);
        DataCallback answered = (rc, asked, context, data, stat) -> answer(found, lost, () -> {
            Code code = codeOf(rc, stat);
            watched(code, path, watcher, request);
            return new Found(code, path, stat);
        });
        zooKeeper.getData(path, watches, answered, null);
        return found;
    }

    private void watched(Code code, String path, Watcher watcher, Object request) {
        if (code == Code.OK) {
            watches.answered(path, watcher);
        } else {
            watches.failed(path, watcher, request);
        }
    }

    /** Stops notifying a watcher about a node. */
    void unwatch(String path, Watcher watcher) {
        watches.remove(path, watcher);
    }

    /** The queues of the locks that it holds and renews. */
    WatchedQueues queues() {
        return queues;
    }

    /** How many watchers wait for events of nodes. */
    int watchers() {
        return watches.size();
    }

    CompletableFuture<Read> read(String path) {
        CompletableFuture<Read> read = new CompletableFuture<>();
        Read lost = new Read(Code.CONNECTIONLOSS, "", null);
        DataCallback answered = (rc, asked, context, data, stat) ->
                answer(read, lost, () -> new Read(codeOf(rc, stat), data == null ? "" : new String(data, UTF_8), stat));
        zooKeeper.getData(path, false, answered, null);
        return read;
    }
}
