package dev.holdfast.challenge.lock;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.challenge.lock.LockKind.Caught;
import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All locks to attack: those of this library, its peers and the controls. */
public final class Locks {
    /** The session of all clients of ZooKeeper, which the server imposes. */
    public static final Duration SESSION = Duration.ofSeconds(2);

    /** The tick of the ZooKeeper server. */
    public static final Duration TICK = Duration.ofMillis(500);

    /** All stores, by their words. */
    static final Set<String> EVERYWHERE =
            Set.of("sqlite", "redis", "zookeeper", "mariadb", "postgresql", "sentinel", "etcd", "memcached");

    private static final Duration LEASE = Duration.ofSeconds(1);
    /** Etcd and Memcached have none that is shorter. */
    private static final Duration WHOLE_SECONDS = Duration.ofSeconds(3);
    /** Outlasts a failover, as the usual ones do. */
    private static final Duration LONG_LEASE = Duration.ofSeconds(10);

    private static final Set<String> ALL = Set.of("plain", "fenced", "permits", "shared", "term", "period");
    private static final Set<String> EXCLUSIVE = Set.of("plain", "fenced", "term");

    private static final List<LockKind> HOLDFAST = List.of(
            holdfast(Set.of("sqlite", "redis", "mariadb", "postgresql"), ALL, LEASE),
            new LockKind(
                    "holdfast",
                    "Holdfast",
                    Role.HOLDFAST,
                    Set.of("zookeeper"),
                    true,
                    ALL,
                    SESSION,
                    Caught.NEVER,
                    place ->
                            open(place, "?session=" + SESSION.toMillis() + "ms&tick=" + TICK.toMillis() + "ms", LEASE)),
            holdfast(Set.of("etcd"), ALL, WHOLE_SECONDS),
            holdfast(Set.of("memcached"), EXCLUSIVE, WHOLE_SECONDS),
            holdfast(Set.of("sentinel"), ALL, LONG_LEASE),
            new LockKind(
                    "holdfast-acks",
                    "Holdfast, acks=1",
                    Role.HOLDFAST,
                    Set.of("sentinel"),
                    true,
                    ALL,
                    LONG_LEASE,
                    Caught.NEVER,
                    place -> open(place, "?acks=1", LONG_LEASE)));

    private Locks() {}

    /** Those that run on a store. */
    public static List<LockKind> on(String store) {
        return Stream.of(HOLDFAST, PeerLocks.ALL, Controls.ALL)
                .flatMap(List::stream)
                .filter(lock -> lock.stores().contains(store))
                .toList();
    }

    /** The one with that word, on that store. */
    public static LockKind of(String id, String store) {
        return on(store).stream()
                .filter(lock -> lock.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no lock '" + id + "' on " + store));
    }

    private static LockKind holdfast(Set<String> stores, Set<String> workloads, Duration lease) {
        return new LockKind(
                "holdfast",
                "Holdfast",
                Role.HOLDFAST,
                stores,
                true,
                workloads,
                lease,
                Caught.NEVER,
                place -> open(place, "", lease));
    }

    private static AttackedLock open(Place place, String query, Duration lease) throws Exception {
        String url = place.url() + query;
        LockClient client =
                place.client(LockClient.class, "holdfast" + query, () -> LockClient.connect(url), LockClient::close);
        HoldOptions options = HoldOptions.defaults().lease(lease);
        return switch (place.workload()) {
            case "term" -> new HoldfastElection(client, place.name(), options);
            case "period" -> new HoldfastJob(client, place.name(), lease);
            default ->
                new HoldfastLock(client, place.name(), options, place.workload().equals("shared"));
        };
    }
}
