package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.ServiceWorkloads;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What is asked for at a service's pace, where most locks are free. */
final class ServiceTargets {
    private static final String REDISSON = "redisson";
    private static final String SHEDLOCK = "shedlock";

    private ServiceTargets() {}

    static List<Target> all() {
        List<Target> all = new ArrayList<>(redis());
        all.addAll(zooKeeper());
        all.addAll(etcd());
        all.addAll(sql(StoreKind.MARIADB));
        all.addAll(sql(StoreKind.POSTGRESQL));
        all.addAll(unlogged());
        return all;
    }

    private static List<Target> redis() {
        Wanted redis = new Wanted(StoreKind.REDIS);
        List<Target> targets = new ArrayList<>();
        for (String workload : List.of(ServiceWorkloads.SERVICE_1X1, ServiceWorkloads.SERVICE_1X16)) {
            boolean alone = workload.equals(ServiceWorkloads.SERVICE_1X1);
            String fresh = workload + ServiceWorkloads.FRESH;
            targets.add(redis.median(workload, Peers.HOLDFAST, Beside.of(Peers.FLOOR), alone ? 1.2 : 1.3));
            targets.add(redis.atMost(workload, Peers.HOLDFAST, Figure.WAIT_P99, Beside.BEST, 1));
            for (Beside peer : List.of(Beside.of(REDISSON), Beside.BEST)) {
                targets.add(redis.median(workload, Peers.HOLDFAST, peer, alone ? 0.9 : 1));
                targets.add(redis.atMost(workload, Peers.HOLDFAST, Figure.SERVER, peer, 0.8));
                targets.add(redis.median(fresh, Peers.HOLDFAST, peer, 1));
            }
        }
        String two = ServiceWorkloads.SERVICE_2X16;
        targets.add(redis.median(two, Peers.HOLDFAST, Beside.of(Peers.FLOOR), 1.3));
        targets.add(redis.atMost(two, Peers.HOLDFAST, Figure.WAIT_P99, Beside.BEST, 1));
        return targets;
    }

    private static List<Target> zooKeeper() {
        Wanted zooKeeper = new Wanted(StoreKind.ZOOKEEPER);
        return List.of(
                zooKeeper.median(ServiceWorkloads.SERVICE_1X1, Peers.HOLDFAST, Beside.BEST, 0.9),
                zooKeeper.median(ServiceWorkloads.SERVICE_1X16, Peers.HOLDFAST, Beside.BEST, 0.9),
                zooKeeper.median(ServiceWorkloads.SERVICE_2X16, Peers.HOLDFAST, Beside.BEST, 0.9),
                zooKeeper.atMost(ServiceWorkloads.SERVICE_2X16, Peers.HOLDFAST, Figure.WAIT_P99, Beside.BEST, 1),
                zooKeeper.median(ServiceWorkloads.SERVICE_ROUND_TRIP, Peers.HOLDFAST, Beside.BEST, 0.55));
    }

    private static List<Target> etcd() {
        Wanted etcd = new Wanted(StoreKind.ETCD);
        return List.of(
                etcd.median(ServiceWorkloads.SERVICE_1X1, Peers.HOLDFAST, Beside.BEST, 1),
                etcd.median(ServiceWorkloads.SERVICE_1X16, Peers.HOLDFAST, Beside.BEST, 1));
    }

    private static List<Target> sql(StoreKind store) {
        Wanted sql = new Wanted(store);
        return List.of(
                sql.median(ServiceWorkloads.SERVICE_1X1, Peers.HOLDFAST, Beside.BEST, 0.8),
                sql.median(ServiceWorkloads.SERVICE_1X16, Peers.HOLDFAST, Beside.BEST, 0.8),
                sql.median(ServiceWorkloads.SERVICE_1X16, Peers.HOLDFAST, Beside.of(SHEDLOCK), 0.9));
    }

    /** Without a flush for each lock; a locked row flushes once a turn, and has neither a token nor a lease. */
    private static List<Target> unlogged() {
        Wanted postgres = new Wanted(StoreKind.POSTGRESQL);
        return Stream.of(ServiceWorkloads.SERVICE_1X1, ServiceWorkloads.SERVICE_1X16)
                .flatMap(workload -> Stream.of(
                        postgres.median(workload, Peers.UNLOGGED, Beside.of(SHEDLOCK), 0.6),
                        postgres.median(workload, Peers.UNLOGGED, Beside.of("select-for-update"), 1.3)))
                .toList();
    }
}
