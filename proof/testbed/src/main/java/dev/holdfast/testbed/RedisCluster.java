package dev.holdfast.testbed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A Redis Cluster on private ports of this machine: masters that share all slots evenly, each with the same number of
 * replicas.
 *
 * <pre>{@code
 * try (RedisCluster cluster = RedisCluster.start(3, 1)) {
 *     connectTo("redis-cluster://" + cluster.hosts());
 *     RedisServer owner = cluster.master(cluster.slot("holdfast:{order:42}"));
 *     owner.process().kill();                     // its replica takes over
 *     cluster.awaitServing();
 * }
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class RedisCluster implements AutoCloseable {
    /** How many slots a cluster has. */
    public static final int SLOTS = 16_384;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Its place in a line of {@code CLUSTER NODES}. */
    private static final int EPOCH = 6;

    private static final Pattern RANGE = Pattern.compile("\\[(\\d+), (\\d+), \\[[^,]*, (\\d+),");

    private final List<RedisServer> nodes = new ArrayList<>();
    private final List<Integer> busPorts = new ArrayList<>();

    private RedisCluster() {}

    /**
     * Starts the nodes, joins them, and returns when the cluster serves and every replica has its master's data.
     *
     * @param masters one or more
     * @param replicas of each master
     * @param options more options of each node
     * @throws ServerMissingException when there is no Redis on this machine
     */
    public static RedisCluster start(int masters, int replicas, String... options) {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < masters * (1 + replicas); i++) {
                cluster.add(options);
            }
            cluster.join(masters);
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** Starts a node that belongs to no cluster, as {@link #start} starts them: it has no slots. */
    public static RedisServer startAlone(String... options) {
        return start(Ports.free(), options);
    }

    private static RedisServer start(int busPort, String... options) {
        List<String> all = new ArrayList<>(List.of(
                "--cluster-enabled",
                "yes",
                // The default is the port plus 10,000, where the system may have put an outgoing connection.
                "--cluster-port",
                Integer.toString(busPort),
                "--cluster-node-timeout",
                "2000",
                // Otherwise a replica waits until its data is recent, which after a held link it is not.
                "--cluster-replica-validity-factor",
                "0"));
        all.addAll(List.of(options));
        return RedisServer.start(all.toArray(String[]::new));
    }

    private RedisServer add(String... options) {
        int busPort = Ports.free();
        RedisServer node = start(busPort, options);
        nodes.add(node);
        busPorts.add(busPort);
        return node;
    }

    private void join(int masters) {
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        }
        for (int i = 0; i < masters; i++) {
            int from = SLOTS * i / masters;
            int to = SLOTS * (i + 1) / masters - 1;
            nodes.get(i).call("CLUSTER", "ADDSLOTSRANGE", Integer.toString(from), Integer.toString(to));
        }
        for (int i = 1; i < nodes.size(); i++) {
            meet(i);
        }
        awaitKnown();
        for (int i = masters; i < nodes.size(); i++) {
            nodes.get(i).call("CLUSTER", "REPLICATE", id(nodes.get(i % masters)));
        }
        awaitServing();
        awaitReplicas();
    }

    private void meet(int index) {
        nodes.get(0)
                .call(
                        "CLUSTER",
                        "MEET",
                        "127.0.0.1",
                        Integer.toString(nodes.get(index).port()),
                        Integer.toString(busPorts.get(index)));
    }

    private void awaitKnown() {
        await(
                "all nodes to know each other",
                () -> nodes.stream()
                        .allMatch(node -> node.call("CLUSTER", "NODES")
                                        .lines()
                                        .filter(line -> line.contains(" connected") && !line.contains("handshake"))
                                        .count()
                                == nodes.size()));
    }

    /** Adds a master without slots, and returns it when all know it. */
    public RedisServer addMaster(String... options) {
        RedisServer node = add(options);
        meet(nodes.size() - 1);
        awaitKnown();
        return node;
    }

    /** Awaits that every living node finds all slots served, and agrees with the others on who serves them. */
    public void awaitServing() {
        await("the cluster to serve", () -> {
            List<RedisServer> living = living();
            return living.stream().allMatch(node -> node.call("CLUSTER", "INFO").contains("cluster_state:ok"))
                    && living.stream().map(node -> owners(node)).distinct().count() == 1;
        });
    }

    private static String owners(RedisServer node) {
        return IntStream.of(0, SLOTS / 2, SLOTS - 1)
                .mapToObj(slot -> masterPort(node, slot))
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
    }

    private void awaitReplicas() {
        await(
                "the replicas to have all data",
                () -> nodes.stream()
                        .map(node -> node.call("INFO", "replication"))
                        .allMatch(info -> info.contains("role:master") || info.contains("master_link_status:up")));
    }

    /** The addresses of all nodes, as {@code 127.0.0.1:20304,127.0.0.1:…}. */
    public String hosts() {
        return nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    /** All nodes, the first masters first. */
    public List<RedisServer> nodes() {
        return List.copyOf(nodes);
    }

    /** The slot of a key. */
    public int slot(String key) {
        return Integer.parseInt(living().get(0).call("CLUSTER", "KEYSLOT", key));
    }

    /** The node that serves a slot, as it says itself: after a move the others are told last. If none does, as one tells. */
    public RedisServer master(int slot) {
        return living().stream()
                .filter(node -> masterPort(node, slot) == node.port())
                .findFirst()
                .orElseGet(() -> at(masterPort(living().get(0), slot)));
    }

    /** The first replica of the node that serves a slot. */
    public RedisServer replica(int slot) {
        String master = id(master(slot));
        return living().stream()
                .filter(node -> node.call("CLUSTER", "NODES")
                        .lines()
                        .anyMatch(line -> line.contains("myself") && line.contains(" " + master + " ")))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the master of slot " + slot + " has no replica"));
    }

    /** Opens a slot for its move to another master: from now on its keys may lie on both. */
    public void beginMove(int slot, RedisServer to) {
        RedisServer from = master(slot);
        to.call("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
        from.call("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
    }

    /** Moves the keys of a slot that was opened; returns how many there were. */
    public int moveKeys(int slot, RedisServer to) {
        RedisServer from = master(slot);
        int moved = 0;
        for (String keys = keys(from, slot); !keys.isEmpty(); keys = keys(from, slot)) {
            for (String key : keys.split(", ", -1)) {
                from.call("MIGRATE", "127.0.0.1", Integer.toString(to.port()), key, "0", "5000");
                moved++;
            }
        }
        return moved;
    }

    /**
     * Closes a slot that was opened, and whose keys were moved; returns when all nodes know it. A node that moved it on before
     * would give the next owner an epoch that this one has already, and of two owners with one epoch some nodes keep the old.
     */
    public void endMove(int slot, RedisServer to) {
        RedisServer from = master(slot);
        for (RedisServer node : List.of(to, from)) {
            node.call("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id(to));
        }
        await(
                "all nodes to know the owner of slot " + slot,
                () -> living().stream().allMatch(node -> masterPort(node, slot) == to.port())
                        && living().stream()
                                        .map(RedisCluster::epochs)
                                        .distinct()
                                        .count()
                                == 1);
    }

    /** The epoch of each node, as one tells. */
    private static Set<String> epochs(RedisServer asked) {
        return asked.call("CLUSTER", "NODES")
                .lines()
                .map(line -> line.split(" ", -1))
                .map(fields -> fields[0] + " " + fields[EPOCH])
                .collect(Collectors.toSet());
    }

    /** Moves all slots of a master, and those keys that they have. */
    public void moveAll(RedisServer from, RedisServer to) {
        try (RespConnection source = from.connect();
                RespConnection target = to.connect()) {
            String fromId = id(from);
            String toId = id(to);
            for (int slot : slots(from)) {
                String number = Integer.toString(slot);
                target.call("CLUSTER", "SETSLOT", number, "IMPORTING", fromId);
                source.call("CLUSTER", "SETSLOT", number, "MIGRATING", toId);
                if (!source.call("CLUSTER", "COUNTKEYSINSLOT", number).equals("0")) {
                    moveKeys(slot, to);
                }
                target.call("CLUSTER", "SETSLOT", number, "NODE", toId);
                source.call("CLUSTER", "SETSLOT", number, "NODE", toId);
            }
        }
        awaitServing();
    }

    /** Awaits that the replicas of a master have all it has written. */
    public void awaitOffset(RedisServer master) {
        await("the replicas of " + master + " to have all", () -> {
            String[] role = master.call("ROLE").replaceAll("[\\[\\]]", "").split(", ", -1);
            return role.length > 4 && role[1].equals(role[4]);
        });
    }

    /** Whether a living master has this slot, and the cluster serves. */
    public boolean isServed(int slot) {
        return isServedBesides(slot, null);
    }

    /** Whether another master than this one has the slot, as the others tell, and the cluster serves. */
    public boolean isServedBesides(int slot, @Nullable RedisServer gone) {
        return living().stream().filter(node -> node != gone).anyMatch(node -> {
            int port = masterPort(node, slot);
            return (gone == null || port != gone.port())
                    && living().stream().anyMatch(each -> each.port() == port)
                    && node.call("CLUSTER", "INFO").contains("cluster_state:ok");
        });
    }

    /** Whether a node follows another one. */
    public boolean isReplica(RedisServer node) {
        return node.call("ROLE").startsWith("[slave");
    }

    private static String keys(RedisServer node, int slot) {
        String list = node.call("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "100");
        return list.substring(1, list.length() - 1);
    }

    private static String id(RedisServer node) {
        return node.call("CLUSTER", "MYID");
    }

    /** The slots from one to another, and the port of their master. */
    private record Range(int from, int to, int port) {}

    /** From {@code [[0, 5460, [127.0.0.1, 20304, …], …], …]}. */
    private static List<Range> ranges(RedisServer asked) {
        return RANGE.matcher(asked.call("CLUSTER", "SLOTS"))
                .results()
                .map(found -> new Range(
                        Integer.parseInt(found.group(1)),
                        Integer.parseInt(found.group(2)),
                        Integer.parseInt(found.group(3))))
                .toList();
    }

    private static int masterPort(RedisServer asked, int slot) {
        return ranges(asked).stream()
                .filter(range -> range.from <= slot && slot <= range.to)
                .mapToInt(Range::port)
                .findFirst()
                .orElse(0);
    }

    private static int[] slots(RedisServer master) {
        return ranges(master).stream()
                .filter(range -> range.port == master.port())
                .flatMapToInt(range -> IntStream.rangeClosed(range.from, range.to))
                .toArray();
    }

    private RedisServer at(int port) {
        return nodes.stream()
                .filter(node -> node.port() == port)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no node of the cluster has port " + port));
    }

    private List<RedisServer> living() {
        return nodes.stream().filter(node -> node.process().isAlive()).toList();
    }

    private void await(String what, java.util.function.BooleanSupplier condition) {
        if (!Await.until(PATIENCE, condition)) {
            throw new AssertionError("waited in vain for " + what + " within " + PATIENCE + ": "
                    + living().get(0).call("CLUSTER", "NODES"));
        }
    }

    /** Kills the nodes and deletes their folders. */
    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }
}
