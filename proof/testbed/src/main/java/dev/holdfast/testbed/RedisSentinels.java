package dev.holdfast.testbed;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A Redis master with replicas, and Sentinels that watch it and make a replica the master when it is gone. Each replica
 * reaches its master through a proxy, so that what the master writes can be kept from it.
 *
 * <pre>{@code
 * try (RedisSentinels redis = RedisSentinels.start(1, 1)) {
 *     connectTo("redis-sentinel://" + redis.hosts() + "/" + RedisSentinels.MASTER);
 *     redis.link(0).toClient().hold();            // the replica hears nothing more
 *     redis.master().process().kill();
 *     redis.awaitMaster(redis.replica(0));
 * }
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class RedisSentinels implements AutoCloseable {
    /** The master's name. */
    public static final String MASTER = "holdfast";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RedisServer master;
    private final List<TcpProxy> links = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();
    private final List<ServerProcess> sentinels = new ArrayList<>();

    private RedisSentinels(RedisServer master) {
        this.master = master;
    }

    /**
     * Starts all, and returns when the replicas have the master's data and the Sentinels know each other and the replicas.
     *
     * @param replicas how many
     * @param sentinels how many; more than half of them decide. With several, now and then none wins the first vote, and
     *     the next one comes two minutes later
     * @param options more options of the master and the replicas
     * @throws ServerMissingException when there is no Redis on this machine
     */
    public static RedisSentinels start(int replicas, int sentinels, String... options) {
        RedisSentinels all = new RedisSentinels(RedisServer.start(options));
        try {
            for (int i = 0; i < replicas; i++) {
                all.addReplica(options);
            }
            all.await(
                    "the replicas to have all data, and the master to know",
                    () -> all.master.call("INFO", "replication").split("state=online", -1).length == replicas + 1);
            all.awaitWritesToReplicas();
            for (int i = 0; i < sentinels; i++) {
                all.addSentinel(sentinels / 2 + 1);
            }
            all.await(
                    "the Sentinels to know all",
                    () -> all.sentinels.stream()
                            .allMatch(sentinel -> knowsGood(sentinel, replicas)
                                    && knows(sentinel, "num-other-sentinels, " + (sentinels - 1))));
            return all;
        } catch (RuntimeException | Error e) {
            all.close();
            throw e;
        }
    }

    /** An online replica is sent no write until it has acknowledged its copy, up to a second later. */
    private void awaitWritesToReplicas() {
        master.call("PUBLISH", "testbed", "written to the replicas, and kept nowhere");
        await("the replicas to be sent what is written", this::isReplicated);
    }

    private void addReplica(String... options) {
        TcpProxy link = TcpProxy.to(master.port());
        links.add(link);
        List<String> all = new ArrayList<>(List.of("--replicaof", "127.0.0.1", Integer.toString(link.port())));
        all.addAll(List.of(options));
        replicas.add(RedisServer.start(all.toArray(String[]::new)));
    }

    private void addSentinel(int quorum) {
        String program = Binaries.onThisMachine().redisServer().toString();
        sentinels.add(ServerProcess.named("sentinel")
                .prepare(home -> Setup.write(
                        home,
                        "sentinel.conf",
                        String.join(
                                "\n",
                                "port " + home.port(),
                                "bind 127.0.0.1",
                                "dir " + home.folder(),
                                "sentinel monitor " + MASTER + " 127.0.0.1 " + master.port() + " " + quorum,
                                "sentinel down-after-milliseconds " + MASTER + " 1000",
                                // A Sentinel corrects a replica whose master is not at the address it knows, such as a
                                // proxy's, when this time has passed.
                                "sentinel failover-timeout " + MASTER + " 120000",
                                "")))
                .command(home ->
                        List.of(program, home.folder().resolve("sentinel.conf").toString(), "--sentinel"))
                .start());
    }

    /** The addresses of the Sentinels, as {@code 127.0.0.1:20304,127.0.0.1:…}. */
    public String hosts() {
        return sentinels.stream().map(each -> "127.0.0.1:" + each.port()).collect(Collectors.joining(","));
    }

    /** The URL of the master by its Sentinels. */
    public String uri() {
        return "redis-sentinel://" + hosts() + "/" + MASTER;
    }

    /** The server that was the master at first. */
    public RedisServer master() {
        return master;
    }

    /** A replica, from 0. */
    public RedisServer replica(int index) {
        return replicas.get(index);
    }

    /** Whether the replicas have all that the master has written. */
    public boolean isReplicated() {
        String written = offset(master);
        return replicas.stream().allMatch(each -> offset(each).equals(written));
    }

    private static String offset(RedisServer server) {
        return server.call("INFO", "replication")
                .lines()
                .filter(line -> line.startsWith("master_repl_offset:"))
                .findFirst()
                .orElse("");
    }

    /** What a replica reads its master's data through. */
    public TcpProxy link(int index) {
        return links.get(index);
    }

    /** One of the Sentinels, from 0. */
    public ServerProcess sentinel(int index) {
        return sentinels.get(index);
    }

    /** Awaits that all Sentinels name this server as the master, and that it is one. */
    public void awaitMaster(RedisServer server) {
        await(
                server + " to be the master",
                () -> sentinels.stream().allMatch(each -> named(each) == server.port()) && is("master", server));
    }

    /** Awaits that a server follows another one. */
    public void awaitReplica(RedisServer server) {
        await(server + " to be a replica", () -> is("slave", server));
    }

    /** A server that changes its role closes all connections. */
    private static boolean is(String role, RedisServer server) {
        try {
            return server.call("ROLE").startsWith("[" + role);
        } catch (UncheckedIOException closed) {
            return false;
        }
    }

    private static int named(ServerProcess sentinel) {
        try (RespConnection asked = RespConnection.open(sentinel.port(), PATIENCE)) {
            return Integer.parseInt(
                    asked.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER).replaceAll(".*, (\\d+)]", "$1"));
        }
    }

    /** One that has not yet heard from a replica itself takes it for none, and tries again four minutes later. */
    private static boolean knowsGood(ServerProcess sentinel, int replicas) {
        try (RespConnection asked = RespConnection.open(sentinel.port(), PATIENCE)) {
            return asked.call("SENTINEL", "REPLICAS", MASTER).split("master-link-status, ok", -1).length
                    == replicas + 1;
        }
    }

    private static boolean knows(ServerProcess sentinel, String fact) {
        try (RespConnection asked = RespConnection.open(sentinel.port(), PATIENCE)) {
            return asked.call("SENTINEL", "MASTER", MASTER).contains(fact);
        }
    }

    private void await(String what, java.util.function.BooleanSupplier condition) {
        if (!Await.until(PATIENCE, condition)) {
            throw new AssertionError("waited in vain for " + what + " within " + PATIENCE);
        }
    }

    /** Kills all and deletes their folders. */
    @Override
    public void close() {
        sentinels.forEach(ServerProcess::close);
        replicas.forEach(RedisServer::close);
        links.forEach(TcpProxy::close);
        master.close();
    }
}
