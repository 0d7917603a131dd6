package dev.holdfast.challenge.lock;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.challenge.lock.LockKind.Caught;
import dev.holdfast.challenge.lock.LockKind.Opening;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.redis.LuaDelete;
import dev.holdfast.ladder.redis.SetNx;
import dev.holdfast.ladder.redis.SetNxEx;
import dev.holdfast.ladder.redis.SetNxExpire;
import dev.holdfast.ladder.redis.SetNxFinally;
import dev.holdfast.ladder.redis.UniqueValue;
import dev.holdfast.ladder.redis.Watchdog;
import dev.holdfast.ladder.sql.Heartbeat;
import dev.holdfast.ladder.sql.HostAndThread;
import dev.holdfast.ladder.sql.QueryAndOccupy;
import dev.holdfast.ladder.sql.UniqueRow;
import dev.holdfast.ladder.zookeeper.OneNode;
import dev.holdfast.ladder.zookeeper.OneNodeLookedAt;
import dev.holdfast.ladder.zookeeper.SequentialNodes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** All locks to attack. A new one is an entry here. */
public final class Locks {
    /** The session of all clients of ZooKeeper, which the server imposes. */
    public static final Duration SESSION = Duration.ofSeconds(2);

    /** The tick of the ZooKeeper server. */
    public static final Duration TICK = Duration.ofMillis(500);

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Duration LONG_LEASE = Duration.ofSeconds(10);
    /** The lease of Redisson, unless it is set. */
    private static final Duration WATCHDOG = Duration.ofSeconds(30);

    /** Of the textbooks' locks. */
    private static final Duration TEXTBOOK = Duration.ofSeconds(2);

    private static final Duration NONE = Duration.ZERO;
    private static final Set<String> EVERYWHERE =
            Set.of("sqlite", "redis", "zookeeper", "mariadb", "postgresql", "sentinel");
    private static final Set<String> PLAIN = Set.of("plain");
    private static final Set<String> ALL = Set.of("plain", "fenced", "permits", "shared", "term", "period");
    private static final Duration BETWEEN = Duration.ofMillis(3);
    private static final Duration LONG_BETWEEN = Duration.ofSeconds(1);

    private static final List<LockKind> LOCKS = List.of(
            new LockKind(
                    "holdfast",
                    "Holdfast",
                    Role.HOLDFAST,
                    Set.of("sqlite", "redis", "mariadb", "postgresql"),
                    true,
                    ALL,
                    LEASE,
                    Caught.NEVER,
                    place -> holdfast(place, place.url(), LEASE)),
            new LockKind(
                    "holdfast",
                    "Holdfast",
                    Role.HOLDFAST,
                    Set.of("zookeeper"),
                    true,
                    ALL,
                    SESSION,
                    Caught.NEVER,
                    place -> holdfast(
                            place,
                            place.url() + "?session=" + SESSION.toMillis() + "ms&tick=" + TICK.toMillis() + "ms",
                            LEASE)),
            onSentinel("holdfast", "Holdfast", ""),
            onSentinel("holdfast-acks", "Holdfast, acks=1", "?acks=1"),
            rung(
                    "setnx-unheard",
                    Set.of("sentinel"),
                    NONE,
                    "failover-unheard",
                    "exclusive",
                    place -> new SetNx(place.url().replace("/holdfast", "#holdfast"))),
            redissonFenced("redisson-fenced-checked", "Redisson, fenced lock", true),
            redissonFenced("redisson-fenced", "Redisson, fenced lock, checkLockSyncedSlaves=false", false),
            new LockKind(
                    "arbiter",
                    "arbiter in the controller",
                    Role.RIGHT,
                    EVERYWHERE,
                    false,
                    Set.of("plain", "fenced", "permits", "shared"),
                    NONE,
                    Caught.NEVER,
                    place -> new ArbiterLock(place.arbiter(), place.name(), Flaw.NONE)),
            flawed(Flaw.TWO_HOLDERS, "plain", "steady", "exclusive", "register"),
            flawed(Flaw.FALLING_TOKENS, "fenced", "steady", "tokens", "refused"),
            flawed(Flaw.EQUAL_TOKENS, "fenced", "steady", "tokens", "fence"),
            flawed(Flaw.EXTRA_PERMIT, "permits", "steady", "permits"),
            flawed(Flaw.BARGING_READERS, "shared", "steady", "shared"),
            flawed(Flaw.FORGETS_THE_DEAD, "plain", "kill-holder", "liveness"),
            flawed(Flaw.LEAVES_RESIDUE, "plain", "steady", "residue"),
            new LockKind(
                    "lock-alone",
                    "job under a lock alone",
                    Role.WRONG,
                    Set.of("sqlite"),
                    false,
                    Set.of("period"),
                    NONE,
                    new Caught("steady", List.of("once"), ""),
                    place -> new LockAloneJob(new ArbiterLock(place.arbiter(), place.name(), Flaw.NONE))),
            inSql("query-and-occupy", NONE, "steady", "exclusive", url -> new QueryAndOccupy(url, Locks::pause)),
            inSql("host-and-thread", NONE, "steady", "exclusive", HostAndThread::new),
            inSql("unique-row", NONE, "kill-holder", "liveness", UniqueRow::new),
            onPostgres("heartbeat", TEXTBOOK, "pause-holder", "exclusive", Heartbeat::new),
            onRedis("setnx", NONE, "kill-holder", "liveness", SetNx::new),
            onRedis("setnx-finally", NONE, "kill-holder", "liveness", SetNxFinally::new),
            onRedis("setnx-expire", TEXTBOOK, "lost-claim", "liveness", SetNxExpire::new),
            onRedis("setnx-ex", TEXTBOOK, "pause-holder", "exclusive", SetNxEx::new),
            onRedis("unique-value", TEXTBOOK, "pause-holder", "exclusive", UniqueValue::new),
            onRedis("lua-delete", TEXTBOOK, "pause-holder", "exclusive", LuaDelete::new),
            onRedis("watchdog", TEXTBOOK, "pause-holder", "exclusive", Watchdog::new),
            onZooKeeper("one-node", "steady", "liveness", servers -> new OneNode(servers, Locks::longPause)),
            onZooKeeper("one-node-looked-at", "pause-holder", "exclusive", OneNodeLookedAt::new),
            onZooKeeper("sequential-nodes", "lost-claim", "liveness", SequentialNodes::new),
            peer("redisson", StoreKind.REDIS),
            peer("redisson-fair", StoreKind.REDIS),
            peer("spring-redis", StoreKind.REDIS),
            peer("curator", StoreKind.ZOOKEEPER),
            peer("shedlock", StoreKind.MARIADB),
            peer("shedlock", StoreKind.POSTGRESQL),
            peer("spring-jdbc", StoreKind.MARIADB),
            peer("spring-jdbc", StoreKind.POSTGRESQL),
            elected(
                    "curator-latch",
                    "Curator, LeaderLatch",
                    "zookeeper",
                    SESSION,
                    place -> new CuratorElection(place.url(), place.name())),
            elected(
                    "spring-leader",
                    "Spring, LockRegistryLeaderInitiator",
                    "redis",
                    TEXTBOOK,
                    place -> new SpringElection(place.url(), place.name(), TEXTBOOK)));

    private Locks() {}

    /** Those that run on a store. */
    public static List<LockKind> on(String store) {
        return LOCKS.stream().filter(lock -> lock.stores().contains(store)).toList();
    }

    /** The one with that word, on that store. */
    public static LockKind of(String id, String store) {
        return on(store).stream()
                .filter(lock -> lock.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no lock '" + id + "' on " + store));
    }

    /** Leases outlast a failover, as the usual ones do. */
    private static LockKind onSentinel(String id, String title, String query) {
        return new LockKind(
                id,
                title,
                Role.HOLDFAST,
                Set.of("sentinel"),
                true,
                ALL,
                LONG_LEASE,
                Caught.NEVER,
                place -> holdfast(place, place.url() + query, LONG_LEASE));
    }

    private static LockKind redissonFenced(String id, String title, boolean checksReplicas) {
        return new LockKind(
                id,
                title,
                Role.PEER,
                Set.of("sentinel"),
                true,
                Set.of("fenced"),
                WATCHDOG,
                Caught.NEVER,
                place -> new RedissonFenced(place.url(), place.name(), checksReplicas));
    }

    private static AttackedLock holdfast(Place place, String url, Duration lease) {
        HoldOptions options = HoldOptions.defaults().lease(lease);
        LockClient client = place.clients().apply(url);
        return switch (place.workload()) {
            case "term" -> new HoldfastElection(client, place.name(), options);
            case "period" -> new HoldfastJob(client, place.name(), lease);
            default ->
                new HoldfastLock(client, place.name(), options, place.workload().equals("shared"));
        };
    }

    private static LockKind flawed(Flaw flaw, String workload, String fault, String... checks) {
        String words = flaw.name().toLowerCase(Locale.ROOT);
        return new LockKind(
                words.replace('_', '-'),
                "arbiter: " + words.replace('_', ' '),
                Role.WRONG,
                Set.of("sqlite"),
                false,
                Set.of(workload),
                NONE,
                new Caught(fault, List.of(checks), ""),
                place -> new ArbiterLock(place.arbiter(), place.name(), flaw));
    }

    private static LockKind elected(String id, String title, String store, Duration lease, Opening opening) {
        return new LockKind(id, title, Role.PEER, Set.of(store), true, Set.of("term"), lease, Caught.NEVER, opening);
    }

    private static LockKind inSql(String id, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(id, Set.of("sqlite", "postgresql"), lease, fault, check, place -> {
            String url = place.url().replace("locks.db", "ladder.db").replaceFirst("^sqlite:", "jdbc:sqlite:");
            createTables(url, place.name());
            return rung.apply(url);
        });
    }

    private static LockKind onPostgres(
            String id, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(id, Set.of("postgresql"), lease, fault, check, place -> {
            createTables(place.url(), place.name());
            return rung.apply(place.url());
        });
    }

    private static LockKind onRedis(
            String id, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(id, Set.of("redis"), lease, fault, check, place -> rung.apply(place.url()));
    }

    private static LockKind onZooKeeper(String id, String fault, String check, Function<String, Rung> rung) {
        return rung(
                id,
                Set.of("zookeeper"),
                SESSION,
                fault,
                check,
                place -> rung.apply(place.url().replace("zk://", "")));
    }

    /** How a textbook's lock is made. */
    private interface Making {
        Rung make(Place place) throws Exception;
    }

    private static LockKind rung(
            String id, Set<String> stores, Duration lease, String fault, String check, Making making) {
        return new LockKind(
                id,
                "textbook: " + id,
                Role.WRONG,
                stores,
                true,
                PLAIN,
                lease,
                new Caught(fault, List.of(check), id.equals("sequential-nodes") ? "/lock-" : ""),
                place -> new RungLock(making.make(place), place.name()));
    }

    private static LockKind peer(String id, StoreKind store) {
        String word = store.name().toLowerCase(Locale.ROOT);
        Opening opening = place -> new LibraryLock(Peers.of(id, store).connect(place.url(), 1), place.name());
        return new LockKind(
                id,
                Peers.of(id, store).title(),
                Role.PEER,
                Set.of(word),
                true,
                PLAIN,
                store == StoreKind.ZOOKEEPER ? SESSION : WATCHDOG,
                Caught.NEVER,
                opening);
    }

    /** What stands between the look and the setting: without it, a race takes long to be lost. */
    private static void pause() {
        LockSupport.parkNanos(BETWEEN.toNanos());
    }

    /** What stands between the look and the watch, and in which the last holder goes. */
    private static void longPause() {
        LockSupport.parkNanos(LONG_BETWEEN.toNanos());
    }

    /** Of several workers that create a table at once, PostgreSQL tells some that it is there. */
    private static void createTables(String url, String name) throws SQLException {
        try (Connection database = DriverManager.getConnection(url);
                Statement statement = database.createStatement()) {
            for (String sql : List.of(
                    "CREATE TABLE IF NOT EXISTS locked (name VARCHAR(100) PRIMARY KEY)",
                    "CREATE TABLE IF NOT EXISTS occupied (name VARCHAR(100) PRIMARY KEY, state VARCHAR(10))",
                    "CREATE TABLE IF NOT EXISTS owned (name VARCHAR(100) PRIMARY KEY, owner VARCHAR(200), depth INTEGER)",
                    "CREATE TABLE IF NOT EXISTS leased (name VARCHAR(100) PRIMARY KEY, beat TIMESTAMP WITH TIME ZONE)",
                    "INSERT INTO occupied (name, state) VALUES ('" + name + "', 'free') ON CONFLICT DO NOTHING")) {
                try {
                    statement.execute(sql);
                } catch (SQLException collided) {
                    statement.execute(sql);
                }
            }
        }
    }
}
