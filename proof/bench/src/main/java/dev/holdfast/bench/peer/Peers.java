package dev.holdfast.bench.peer;

import dev.holdfast.HoldOptions;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.PeerKind.Opening;
import dev.holdfast.bench.peer.PeerKind.Role;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** All that is measured. A new peer, or a new setting of Holdfast, is one line here. */
public final class Peers {
    /** Holdfast as it comes. */
    public static final String HOLDFAST = "holdfast";

    /** Every change of holder through the store's queue. */
    public static final String STRICT_FIFO = "holdfast-fifo";

    /** No hand-over between the threads of a process. */
    public static final String NO_HAND_OVER = "holdfast-no-hand-over";

    /** A close that waits for the store. */
    public static final String AWAIT_RELEASE = "holdfast-await";

    /** A lock of a database session in place of a lease. */
    public static final String SESSION = "holdfast-session";

    /** PostgreSQL without a flush for each lock: its table is not logged. */
    public static final String UNLOGGED = "holdfast-unlogged";

    /** The fair lock of the JDK. */
    public static final String CEILING = "local-fair";

    /** The store's bare commands. */
    public static final String FLOOR = "raw";

    /** jetcd's client of the lock service of etcd, which has no try. */
    public static final String JETCD = "jetcd";

    private static final Set<StoreKind> EVERYWHERE = EnumSet.allOf(StoreKind.class);
    private static final Set<StoreKind> SQL = EnumSet.of(StoreKind.MARIADB, StoreKind.POSTGRESQL);
    private static final Set<Mode> PLAIN = EnumSet.of(Mode.EXCLUSIVE);
    private static final Set<Mode> ALL_MODES = EnumSet.allOf(Mode.class);

    private static final List<PeerKind> ALL = List.of(
            new PeerKind(
                    CEILING,
                    "fair ReentrantLock",
                    Role.CEILING,
                    EVERYWHERE,
                    ALL_MODES,
                    (url, clients) -> new LocalPeer()),
            floor("bare UPDATE", StoreKind.SQLITE, (url, clients) -> new RawSqlPeer(url)),
            floor("bare SET NX", StoreKind.REDIS, (url, clients) -> new RawRedisPeer(url)),
            floor("bare node", StoreKind.ZOOKEEPER, (url, clients) -> new RawZooKeeperPeer(url)),
            floor("bare key", StoreKind.ETCD, (url, clients) -> new RawEtcdPeer(url)),
            floor("bare UPDATE", StoreKind.MARIADB, (url, clients) -> new RawSqlPeer(url)),
            floor("bare UPDATE", StoreKind.POSTGRESQL, (url, clients) -> new RawSqlPeer(url)),
            peer("redisson", "Redisson", StoreKind.REDIS, ALL_MODES, (url, clients) -> new RedissonPeer(url, false)),
            peer(
                    "redisson-fair",
                    "Redisson, fair lock",
                    StoreKind.REDIS,
                    PLAIN,
                    (url, clients) -> new RedissonPeer(url, true)),
            peer(
                    "spring-redis",
                    "Spring, polling",
                    StoreKind.REDIS,
                    PLAIN,
                    (url, clients) -> new SpringRedisPeer(url, RedisLockType.SPIN_LOCK)),
            peer(
                    "spring-redis-pubsub",
                    "Spring, pub-sub",
                    StoreKind.REDIS,
                    PLAIN,
                    (url, clients) -> new SpringRedisPeer(url, RedisLockType.PUB_SUB_LOCK)),
            peer("curator", "Curator", StoreKind.ZOOKEEPER, ALL_MODES, (url, clients) -> new CuratorPeer(url, true)),
            peer(
                    "curator-per-thread",
                    "Curator, one per thread",
                    StoreKind.ZOOKEEPER,
                    ALL_MODES,
                    (url, clients) -> new CuratorPeer(url, false)),
            peer(JETCD, "jetcd", StoreKind.ETCD, PLAIN, (url, clients) -> new JetcdPeer(url)),
            new PeerKind("shedlock", "ShedLock", Role.PEER, SQL, PLAIN, ShedLockPeer::new),
            new PeerKind("spring-jdbc", "Spring", Role.PEER, SQL, PLAIN, SpringJdbcPeer::new),
            peer("pg_advisory_lock", "pg_advisory_lock", StoreKind.POSTGRESQL, PLAIN, AdvisoryLockPeer::new),
            peer("GET_LOCK", "GET_LOCK", StoreKind.MARIADB, PLAIN, GetLockPeer::new),
            new PeerKind("select-for-update", "SELECT … FOR UPDATE", Role.PEER, SQL, PLAIN, ForUpdatePeer::new),
            // first those whose turn costs what the peers' turns cost: a confirmed release, the queue of the store
            holdfast(AWAIT_RELEASE, "Holdfast, release confirmed", options -> options.awaitRelease(true)),
            holdfast(STRICT_FIFO, "Holdfast, strict FIFO", options -> options.strictFifo(true)),
            holdfast(HOLDFAST, "Holdfast", options -> options),
            holdfast(NO_HAND_OVER, "Holdfast, hand-over off", options -> options.handOver(0, Duration.ZERO)),
            new PeerKind(
                    SESSION,
                    "Holdfast, mode=session",
                    Role.HOLDFAST,
                    SQL,
                    PLAIN,
                    (url, clients) -> new HoldfastPeer(url + "&mode=session", HoldOptions.defaults())),
            new PeerKind(
                    UNLOGGED,
                    "Holdfast, unlogged",
                    Role.HOLDFAST,
                    EnumSet.of(StoreKind.POSTGRESQL),
                    PLAIN,
                    (url, clients) -> new HoldfastPeer(
                            url + "&holdfast.unlogged=true&holdfast.table=holdfast_unlogged", HoldOptions.defaults())),
            new PeerKind("none", "no lock", Role.FAKE, Set.of(), ALL_MODES, (url, clients) -> new NoLockPeer()));

    private Peers() {}

    /** Those that run on a store, ceiling and floor first. */
    public static List<PeerKind> on(StoreKind store) {
        return ALL.stream().filter(peer -> peer.stores().contains(store)).toList();
    }

    /** The one of that id on that store; the fakes, which have no store, on any. */
    public static PeerKind of(String id, StoreKind store) {
        return ALL.stream()
                .filter(peer -> peer.id().equals(id))
                .filter(peer -> peer.stores().isEmpty() || peer.stores().contains(store))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no " + id + " on " + store));
    }

    private static PeerKind floor(String title, StoreKind store, Opening opening) {
        return new PeerKind(FLOOR, title, Role.FLOOR, EnumSet.of(store), PLAIN, opening);
    }

    private static PeerKind peer(String id, String title, StoreKind store, Set<Mode> modes, Opening opening) {
        return new PeerKind(id, title, Role.PEER, EnumSet.of(store), modes, opening);
    }

    private static PeerKind holdfast(String id, String title, UnaryOperator<HoldOptions> options) {
        return new PeerKind(
                id,
                title,
                Role.HOLDFAST,
                EVERYWHERE,
                ALL_MODES,
                (url, clients) -> new HoldfastPeer(url, options.apply(HoldOptions.defaults())));
    }
}
