package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Caught;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.etcd.LockService;
import dev.holdfast.ladder.etcd.PutIfAbsent;
import dev.holdfast.ladder.etcd.PutWithLease;
import dev.holdfast.ladder.memcached.Add;
import dev.holdfast.ladder.memcached.AddThenTouch;
import dev.holdfast.ladder.memcached.AddWithLease;
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

/**
 * The controls: locks that are wrong on purpose or by their textbook, each with the check that must find it, and a right
 * one in which no check may find anything. A new one is an entry here.
 */
final class Controls {
    /** The lease of the textbooks' locks. */
    private static final Duration TEXTBOOK = Duration.ofSeconds(2);

    private static final Set<String> SQL_SERVERS = Set.of("mariadb", "postgresql");
    private static final Set<String> SQL = Set.of("sqlite", "mariadb", "postgresql");

    private static final Duration NONE = Duration.ZERO;
    private static final Duration BETWEEN = Duration.ofMillis(3);
    private static final Duration LONG_BETWEEN = Duration.ofSeconds(1);

    static final List<LockKind> ALL = List.of(
            new LockKind(
                    "arbiter",
                    "arbiter in the controller",
                    Role.RIGHT,
                    Locks.EVERYWHERE,
                    false,
                    Set.of("plain", "fenced", "permits", "shared"),
                    NONE,
                    Caught.NEVER,
                    place -> new ArbiterLock(place.arbiter(), place.name(), Flaw.NONE)),
            flawed(Flaw.TWO_HOLDERS, "plain", "steady", "exclusive", "register"),
            flawed(Flaw.FALLING_TOKENS, "fenced", "steady", "tokens", "order", "refused"),
            flawed(Flaw.EQUAL_TOKENS, "fenced", "steady", "tokens", "refused"),
            flawed(Flaw.EXTRA_PERMIT, "permits", "steady", "permits"),
            flawed(Flaw.BARGING_READERS, "shared", "steady", "shared"),
            flawed(Flaw.FORGETS_THE_DEAD, "plain", "kill-holder", "liveness"),
            flawed(Flaw.LEAVES_RESIDUE, "plain", "steady", "residue"),
            flawed(Flaw.ALWAYS_LOST, "plain", "steady", "kept"),
            flawed(Flaw.NEVER_VALID, "plain", "steady", "kept"),
            new LockKind(
                    "endless-lease",
                    "arbiter: a lease that never ends",
                    Role.WRONG,
                    Locks.EVERYWHERE,
                    false,
                    Set.of("plain"),
                    TEXTBOOK,
                    new Caught("pause-holder", List.of("liveness"), ""),
                    place -> new ArbiterLock(place.arbiter(), place.name(), Flaw.NONE)),
            new LockKind(
                    "lock-alone",
                    "job under a lock alone",
                    Role.WRONG,
                    Locks.EVERYWHERE,
                    false,
                    Set.of("period"),
                    NONE,
                    new Caught("steady", List.of("once"), ""),
                    place -> new LockAloneJob(new ArbiterLock(place.arbiter(), place.name(), Flaw.NONE))),
            inSql(
                    "query-and-occupy",
                    SQL,
                    NONE,
                    "steady",
                    "exclusive",
                    url -> new QueryAndOccupy(url, Controls::pause)),
            inSql("host-and-thread", SQL, NONE, "steady", "exclusive", HostAndThread::new),
            inSql("unique-row", SQL, NONE, "kill-holder", "liveness", UniqueRow::new),
            inSql("heartbeat", SQL_SERVERS, TEXTBOOK, "pause-holder", "exclusive", Heartbeat::new),
            onRedis("setnx", NONE, "kill-holder", "liveness", SetNx::new),
            onRedis("setnx-finally", NONE, "kill-holder", "liveness", SetNxFinally::new),
            onRedis("setnx-expire", TEXTBOOK, "lost-claim", "liveness", SetNxExpire::new),
            onRedis("setnx-ex", TEXTBOOK, "pause-holder", "exclusive", SetNxEx::new),
            onRedis("unique-value", TEXTBOOK, "pause-holder", "exclusive", UniqueValue::new),
            onRedis("lua-delete", TEXTBOOK, "pause-holder", "exclusive", LuaDelete::new),
            onRedis("watchdog", TEXTBOOK, "pause-holder", "exclusive", Watchdog::new),
            onServer(
                    "zookeeper",
                    "one-node",
                    Locks.SESSION,
                    "steady",
                    "liveness",
                    servers -> new OneNode(servers, Controls::longPause)),
            onServer(
                    "zookeeper",
                    "one-node-looked-at",
                    Locks.SESSION,
                    "pause-holder",
                    "exclusive",
                    OneNodeLookedAt::new),
            onServer("zookeeper", "sequential-nodes", Locks.SESSION, "lost-claim", "liveness", SequentialNodes::new),
            onServer("etcd", "put-if-absent", NONE, "kill-holder", "liveness", PutIfAbsent::new),
            onServer("etcd", "put-with-lease", TEXTBOOK, "pause-holder", "exclusive", PutWithLease::new),
            onServer("etcd", "lock-service", TEXTBOOK, "pause-holder", "exclusive", LockService::new),
            onServer("memcached", "add", NONE, "kill-holder", "liveness", Add::new),
            onServer("memcached", "add-then-touch", TEXTBOOK, "lost-claim", "liveness", AddThenTouch::new),
            onServer("memcached", "add-with-lease", TEXTBOOK, "pause-holder", "exclusive", AddWithLease::new),
            rung(
                    "setnx-unheard",
                    Set.of("sentinel"),
                    NONE,
                    "failover-unheard",
                    "exclusive",
                    place -> new SetNx(place.url().replace("/holdfast", "#holdfast"))));

    private Controls() {}

    private static LockKind flawed(Flaw flaw, String workload, String fault, String... checks) {
        String words = flaw.name().toLowerCase(Locale.ROOT);
        return new LockKind(
                words.replace('_', '-'),
                "arbiter: " + words.replace('_', ' '),
                Role.WRONG,
                Locks.EVERYWHERE,
                false,
                Set.of(workload),
                NONE,
                new Caught(fault, List.of(checks), ""),
                place -> new ArbiterLock(place.arbiter(), place.name(), flaw));
    }

    private static LockKind inSql(
            String id, Set<String> stores, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(id, stores, lease, fault, check, place -> {
            String url = place.url().replace("locks.db", "ladder.db").replaceFirst("^sqlite:", "jdbc:sqlite:");
            createTables(url, place.name());
            return rung.apply(url);
        });
    }

    private static LockKind onRedis(
            String id, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(id, Set.of("redis"), lease, fault, check, place -> rung.apply(place.url()));
    }

    /** Of a rung that takes HOST:PORT. */
    private static LockKind onServer(
            String store, String id, Duration lease, String fault, String check, Function<String, Rung> rung) {
        return rung(
                id,
                Set.of(store),
                lease,
                fault,
                check,
                place -> rung.apply(place.url().replaceFirst("^\\w+://", "")));
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
                Set.of("plain"),
                lease,
                new Caught(fault, List.of(check), id.equals("sequential-nodes") ? "/lock-" : ""),
                place -> new RungLock(making.make(place), place.name()));
    }

    /** What stands between the look and the setting: without it, a race takes long to be lost. */
    private static void pause() {
        LockSupport.parkNanos(BETWEEN.toNanos());
    }

    /** What stands between the look and the watch, and in which the last holder goes. */
    private static void longPause() {
        LockSupport.parkNanos(LONG_BETWEEN.toNanos());
    }

    /** Of several workers that create a table at once, or a row, the servers tell some that it is there. */
    private static void createTables(String url, String name) throws SQLException {
        try (Connection database = DriverManager.getConnection(url);
                Statement statement = database.createStatement()) {
            for (String sql : List.of(
                    "CREATE TABLE IF NOT EXISTS locked (name VARCHAR(100) PRIMARY KEY)",
                    "CREATE TABLE IF NOT EXISTS occupied (name VARCHAR(100) PRIMARY KEY, state VARCHAR(10))",
                    "CREATE TABLE IF NOT EXISTS owned (name VARCHAR(100) PRIMARY KEY, owner VARCHAR(200), depth INTEGER)",
                    "CREATE TABLE IF NOT EXISTS leased (name VARCHAR(100) PRIMARY KEY, beat TIMESTAMP(6))",
                    "INSERT INTO occupied (name, state) SELECT '" + name + "', 'free' FROM (SELECT 1) AS one"
                            + " WHERE NOT EXISTS (SELECT * FROM occupied WHERE name = '" + name + "')")) {
                try {
                    statement.execute(sql);
                } catch (SQLException collided) {
                    statement.execute(sql);
                }
            }
        }
    }
}
