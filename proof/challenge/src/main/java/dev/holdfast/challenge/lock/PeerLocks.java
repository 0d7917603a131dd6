package dev.holdfast.challenge.lock;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.ShedLock;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Versions;
import dev.holdfast.challenge.lock.LockKind.Caught;
import dev.holdfast.challenge.lock.LockKind.Opening;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/**
 * What users would otherwise pick, with the settings that it comes with; where it has none, a lease of 30 s. A new one is an
 * entry here.
 */
final class PeerLocks {
    /** Of Redisson by default, and of those whose caller has to say. */
    private static final Duration HALF_MINUTE = Duration.ofSeconds(30);
    /** Of Spring Integration on Redis, by default. */
    private static final Duration MINUTE = Duration.ofMinutes(1);
    /** Of Spring Integration on JDBC, by default. */
    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    private static final String IMPOSED = "the server imposes a session of";
    private static final String BY_DATABASE = "usingDbTime, a try each 100 ms, lockAtMostFor";
    private static final String POLLED = "a try each 100 ms, timeToLive";

    private static final Map<String, String> JARS = Map.of(
            "Redisson", "redisson",
            "Spring", "spring-integration-core",
            "ShedLock", "shedlock-core",
            "Curator", "curator-recipes",
            "jetcd", "jetcd-core",
            "lock4j", "lock4j-core",
            "db-scheduler", "db-scheduler");

    static final List<LockKind> ALL = List.of(
            onRedis("redisson", "Redisson", "plain", "watchdog", HALF_MINUTE, RedissonLock::plain),
            onRedis("redisson-fair", "Redisson, fair lock", "plain", "watchdog", HALF_MINUTE, RedissonLock::fair),
            onRedis(
                    "redisson-fenced",
                    "Redisson, fenced lock",
                    "fenced",
                    "watchdog",
                    HALF_MINUTE,
                    place -> RedissonLock.fenced(place, true)),
            ofBench("spring-redis", StoreKind.REDIS, "a try each 100 ms, expiry", MINUTE),
            onRedis(
                    "spring-leader",
                    "Spring, LockRegistryLeaderInitiator",
                    "term",
                    "expiry",
                    MINUTE,
                    place -> new SpringElection(place, MINUTE)),
            onRedis(
                    "shedlock",
                    "ShedLock",
                    "plain",
                    "a try each 100 ms, lockAtMostFor",
                    HALF_MINUTE,
                    PeerLocks::shedLockOnRedis),
            onRedis("lock4j", "lock4j", "plain", "a try each 100 ms, expire", HALF_MINUTE, Lock4j::at),
            peer(
                    "redisson-fenced-checked",
                    "Redisson, fenced lock",
                    "sentinel",
                    "fenced",
                    "checkLockSyncedSlaves=true, watchdog",
                    HALF_MINUTE,
                    place -> RedissonLock.fenced(place, true)),
            peer(
                    "redisson-fenced",
                    "Redisson, fenced lock",
                    "sentinel",
                    "fenced",
                    "checkLockSyncedSlaves=false, watchdog",
                    HALF_MINUTE,
                    place -> RedissonLock.fenced(place, false)),
            ofBench("curator", StoreKind.ZOOKEEPER, IMPOSED, Locks.SESSION),
            peer(
                    "curator-listener",
                    "Curator, with a connection listener",
                    "zookeeper",
                    "plain",
                    IMPOSED,
                    Locks.SESSION,
                    CuratorListening::new),
            peer(
                    "curator-latch",
                    "Curator, LeaderLatch",
                    "zookeeper",
                    "term",
                    IMPOSED,
                    Locks.SESSION,
                    CuratorElection::new),
            ofBench("shedlock", StoreKind.MARIADB, BY_DATABASE, HALF_MINUTE),
            ofBench("shedlock", StoreKind.POSTGRESQL, BY_DATABASE, HALF_MINUTE),
            ofBench("spring-jdbc", StoreKind.MARIADB, POLLED, TEN_SECONDS),
            ofBench("spring-jdbc", StoreKind.POSTGRESQL, POLLED, TEN_SECONDS),
            dbScheduler("mariadb"),
            dbScheduler("postgresql"),
            ofBench("jetcd", StoreKind.ETCD, "kept alive, lease", HALF_MINUTE));

    private PeerLocks() {}

    /** "Redisson, fair lock" becomes "Redisson 4.7.0, fair lock". */
    private static String withVersion(String title) {
        String library = title.replaceFirst(",.*", "");
        String version = Versions.ofLibraries().getOrDefault(JARS.getOrDefault(library, ""), "");
        return version.isEmpty() ? title : library + " " + version + title.substring(library.length());
    }

    private static LockKind dbScheduler(String store) {
        return peer(
                "db-scheduler",
                "db-scheduler",
                store,
                "period",
                "heartbeat 2 s, a look each 200 ms, dead after",
                DbScheduler.DEAD,
                DbScheduler::new);
    }

    private static LockKind ofBench(String id, StoreKind store, String settings, Duration lease) {
        return peer(
                id,
                Peers.of(id, store).title(),
                store.name().toLowerCase(Locale.ROOT),
                "plain",
                settings,
                lease,
                place -> new LibraryLock(place.client(
                                Peer.class,
                                id,
                                // one that is alone needs no pool for many threads
                                () -> Peers.of(id, store).connect(place.url(), place.isAlone() ? 2 : 1),
                                Peer::close)
                        .open(place.name(), Mode.EXCLUSIVE)));
    }

    private static AttackedLock shedLockOnRedis(Place place) throws Exception {
        return new LibraryLock(
                new ShedLock(new RedisLockProvider(SpringConnections.at(place), "challenge"), place.name()));
    }

    private static LockKind onRedis(
            String id, String title, String workload, String settings, Duration lease, Opening opening) {
        return peer(id, title, "redis", workload, settings, lease, opening);
    }

    /** Its title says its version and its settings, the last of which is its lease. */
    private static LockKind peer(
            String id, String title, String store, String workload, String settings, Duration lease, Opening opening) {
        return new LockKind(
                id,
                withVersion(title) + " (" + settings + " " + lease.toSeconds() + " s)",
                Role.PEER,
                Set.of(store),
                true,
                Set.of(workload),
                lease,
                Caught.NEVER,
                opening);
    }
}
