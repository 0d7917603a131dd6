package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The masters of a cluster, each with its own pipeline.
 *
 * <pre>
 *   call ──► slot of its lock ──► node ──► pipeline ──► answer
 *              ▲                               │
 *              │    MOVED, ASK: to the node it names; TRYAGAIN, CLUSTERDOWN: again after a pause
 *              └───────────────────────────────┘
 *   MOVED, a broken connection, no node of a slot ──► {@link ClusterTopology} asks the nodes ──► nodes that have lost
 *                                                      their slots are retired, and return their calls
 * </pre>
 *
 * <p>A node that answers so has not run the script, so renewals, too, may be sent again. A renewal whose answer was
 * lost with its connection fails, as on a single server. Thread-safe.
 */
final class ClusterSender implements ScriptSender {
    private static final Duration AGAIN = Duration.ofMillis(30);
    /** As a multiple of {@link #AGAIN}. */
    private static final int LONGEST_PAUSE = 16;

    /** After so many redirections, a call pauses before it follows the next. */
    private static final int FOLLOWED_AT_ONCE = 4;

    private final RedisClient client;
    private final RedisURI like;
    private final Settings settings;
    private final RedisErrors errors;
    private final AtomicReferenceArray<@Nullable NodeAddress> owners = new AtomicReferenceArray<>(SlotHash.SLOT_COUNT);
    private final Map<NodeAddress, ClusterNode> nodes = new ConcurrentHashMap<>();
    private final ClusterTopology topology;
    private volatile Set<NodeAddress> masters = Set.of();
    private volatile ClusterEvents events = new ClusterEvents() {};
    /** Why nothing can be asked any more. The reason that the client was closed is never replaced by a later one. */
    private final AtomicReference<@Nullable RuntimeException> closed = new AtomicReference<>();

    /**
     * @param like a URI with the log-in and TLS of all nodes
     * @param seeds the nodes to ask when no known node answers
     */
    ClusterSender(RedisClient client, RedisURI like, List<NodeAddress> seeds, Settings settings, RedisErrors errors) {
        this.client = client;
        this.like = like;
        this.settings = settings;
        this.errors = errors;
        this.topology = new ClusterTopology(this, seeds);
    }

    void listen(ClusterEvents listener) {
        events = listener;
    }

    @Override
    public void send(ScriptCall call) {
        call.asked(nanoTime());
        call.inCluster();
        RuntimeException end = closed.get();
        NodeAddress owner = owners.get(call.slot());
        if (end != null) {
            call.fail(end);
        } else if (owner == null) {
            refreshSoon();
            sendLater(call, "no node has the slot of its lock");
        } else {
            node(owner).send(call);
        }
    }

    /** The master of a lock; null while no node is known to have its slot. */
    @Nullable
    NodeAddress owner(String lock) {
        return owners.get(SlotHash.getSlot(LockKeys.state(lock)));
    }

    /** The master of its slot. */
    @Override
    public String part(String lock) {
        NodeAddress owner = owner(lock);
        return owner == null ? "the slots without a master" : "node " + owner;
    }

    /** Not while slots move: a release that a node has sent again later is overtaken by the claim behind it. */
    @Override
    public boolean isOrdered() {
        return false;
    }

    /** One: a script may not touch keys of two slots. */
    @Override
    public int renewedTogether() {
        return 1;
    }

    @Override
    public void beforeSending(String lock, Runnable task) {
        NodeAddress owner = owner(lock);
        if (owner == null) {
            task.run();
        } else {
            node(owner).beforeSending(lock, task);
        }
    }

    @Override
    public CompletionStage<List<KeyPages>> keyPages() {
        // Asked each time: no redirection reports a master that has joined.
        return topology.refreshNow()
                .thenApply(done -> masters.stream().<KeyPages>map(this::node).toList());
    }

    private ClusterNode node(NodeAddress address) {
        return nodes.computeIfAbsent(address, here -> new ClusterNode(this, here));
    }

    // ---- answers that lead elsewhere ----

    /** A node has not run a call. */
    void redirected(ScriptCall call, String answer, NodeAddress by) {
        String[] words = answer.split(" ", -1);
        if (isLate(call)) {
            call.fail(unsettled(answer));
            return;
        }
        switch (words[0]) {
            case "MOVED" -> {
                NodeAddress owner = NodeAddress.parse(words[2], by);
                if (!owner.equals(owners.getAndSet(call.slot(), owner))) {
                    events.slotsMoved();
                }
                refreshSoon();
                if (call.redirections() <= FOLLOWED_AT_ONCE) {
                    send(call);
                } else {
                    sendLater(call, answer);
                }
            }
            case "ASK" -> {
                call.asking();
                node(NodeAddress.parse(words[2], by)).send(call);
            }
            case "TRYAGAIN" -> {
                if (call.narrow()) {
                    send(call);
                } else {
                    sendLater(call, answer);
                }
            }
            default -> {
                refreshSoon();
                sendLater(call, answer);
            }
        }
    }

    private void sendLater(ScriptCall call, String why) {
        if (isLate(call) || !schedule(() -> sendAfterPause(call), pause(call))) {
            call.fail(unsettled(why));
        }
    }

    private void sendAfterPause(ScriptCall call) {
        try {
            send(call);
        } catch (Throwable broken) { // such as of memory: nobody else has it
            call.fail(broken, errors);
        }
    }

    /** Grows with the redirections: many calls may retry, and each retries until its timeout. */
    private static Duration pause(ScriptCall call) {
        return AGAIN.multipliedBy(Math.min(LONGEST_PAUSE, 1 + call.redirections() / 2));
    }

    private RuntimeException unsettled(String answer) {
        return new StoreUnavailableException("no node of " + errors.store() + " serves this lock now (" + answer
                + "): a failover or a move of slots is under way, or the cluster does not cover all slots; try again");
    }

    // ---- what the nodes report ----

    /** Learns from the answer of the node that was asked first of all. */
    void learnFirst(SlotOwners answer) {
        topology.learn(answer);
    }

    void refreshSoon() {
        if (!isClosed()) {
            topology.refreshSoon();
        }
    }

    /** A node reported which node has which slot. */
    void learn(SlotOwners answer) {
        boolean changed = false;
        for (int slot = 0; slot < SlotHash.SLOT_COUNT; slot++) {
            NodeAddress owner = answer.bySlot().get(slot);
            changed |= !Objects.equals(owners.getAndSet(slot, owner), owner);
        }
        masters = answer.masters();
        for (ClusterNode node : List.copyOf(nodes.values())) {
            if (!answer.masters().contains(node.address()) || (changed && node.isDown())) {
                nodes.remove(node.address(), node);
                node.retire();
                events.retired(node.address());
            }
        }
        if (changed) {
            events.slotsMoved();
        }
    }

    void connected(NodeAddress node) {
        events.connected(node);
    }

    void shutDown(RuntimeException why) {
        closed.compareAndSet(null, why);
        events.shutDown(why);
    }

    /** Whether some calls wait for a node that is not connected. */
    boolean isStuck() {
        return nodes.values().stream().anyMatch(ClusterNode::isStuck);
    }

    /** The connected node of an address; null if there is none. */
    @Nullable
    StatefulRedisConnection<byte[], byte[]> connection(NodeAddress address) {
        ClusterNode node = nodes.get(address);
        return node == null ? null : node.connection();
    }

    // ---- what the nodes need ----

    /** Connects to all masters, without waiting for it. */
    void connectAll() {
        masters.forEach(master -> node(master).connect());
    }

    CompletionStage<StatefulRedisConnection<byte[], byte[]>> connectTo(NodeAddress address) {
        return client.connectAsync(ByteArrayCodec.INSTANCE, address.uri(like));
    }

    ScriptPipeline pipeline(StatefulRedisConnection<byte[], byte[]> connection, boolean first, NodeAddress address) {
        return new ScriptPipeline(
                connection, settings.time(), settings.timeout(), errorsOf(address), first ? acks() : Acks.NONE);
    }

    Acks acks() {
        return settings.acks();
    }

    RedisErrors errorsOf(NodeAddress node) {
        return new RedisErrors(errors.store() + " (node " + node + ")");
    }

    boolean isTls() {
        return like.isSsl();
    }

    boolean isLate(ScriptCall call) {
        return nanoTime() - call.askedNanos() >= settings.timeout().toNanos();
    }

    boolean isPast(long moment) {
        return nanoTime() - moment >= 0;
    }

    long deadlineFromNow() {
        return nanoTime() + settings.timeout().toNanos();
    }

    long nanoTime() {
        return settings.time().nanoTime();
    }

    Duration timeout() {
        return settings.timeout();
    }

    StoreUnavailableException noNode() {
        return new StoreUnavailableException(
                "no node of " + errors.store() + " answered CLUSTER SLOTS; check that one is running");
    }

    StoreUnavailableException notCovered(int served) {
        return new StoreUnavailableException(errors.store() + " does not cover all slots now: " + served + " of "
                + SlotHash.SLOT_COUNT + " have a master");
    }

    StoreUnavailableException late(NodeAddress node) {
        return new StoreUnavailableException("no answer from " + errorsOf(node).store() + " within "
                + settings.timeout().toMillis() + " ms: it is down, busy, or cannot be reached");
    }

    /** False if the task will not be run: the timer was stopped with the client, or has no thread or memory for it. */
    boolean schedule(Runnable task, Duration delay) {
        try {
            settings.time().schedule(task, delay);
            return true;
        } catch (Throwable notPlanned) {
            return false;
        }
    }

    // ---- the end ----

    boolean isClosed() {
        return closed.get() != null;
    }

    @Override
    public boolean isShutDown() {
        return client.getResources().eventExecutorGroup().isShuttingDown();
    }

    @Override
    public void close(RuntimeException why) {
        closed.set(why);
        nodes.values().forEach(node -> node.close(why));
    }

    @Override
    public void close() {
        closed.compareAndSet(null, new StoreRefusedException(errors.store() + " is closed"));
        nodes.values().forEach(ClusterNode::close);
    }
}
