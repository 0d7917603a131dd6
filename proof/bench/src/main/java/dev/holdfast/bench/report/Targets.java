package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Target.Outcome;
import dev.holdfast.bench.run.CommandLineFigures;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Figures;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Every figure that is aimed at, beside what the run measured. A new store adds its rows here. */
public final class Targets {
    private static final String NOT_MEASURED = "not in this run";

    private Targets() {}

    /** {@link #table(Results, List)} of all stores. */
    public static Table table(Results results) {
        return table(results, List.of(StoreKind.values()));
    }

    /** Target, measured, met: for those of the stores where Holdfast took part; missed ones are shown as missed. */
    public static Table table(Results results, List<StoreKind> stores) {
        Table table = new Table(List.of("", "target", "measured", "met"));
        for (Target target : all()) {
            if (!stores.contains(target.store()) || !results.hasHoldfast(target.store())) {
                continue;
            }
            Optional<Outcome> outcome = target.check().apply(results);
            table.row(List.of(
                    target.what(),
                    target.wanted(),
                    outcome.map(Outcome::measured).orElse(NOT_MEASURED),
                    outcome.map(found -> found.verdict().word()).orElse("–")));
        }
        return table;
    }

    static List<Target> all() {
        List<Target> all = new ArrayList<>(ServiceTargets.all());
        all.addAll(engineAndEmbeddedStore());
        all.addAll(redis());
        all.addAll(zooKeeper());
        all.addAll(etcd());
        all.addAll(sql(StoreKind.MARIADB));
        all.addAll(sql(StoreKind.POSTGRESQL));
        for (StoreKind kept : List.of(
                StoreKind.SQLITE,
                StoreKind.REDIS,
                StoreKind.ZOOKEEPER,
                StoreKind.ETCD,
                StoreKind.MARIADB,
                StoreKind.POSTGRESQL)) {
            all.add(share(new Wanted(kept), Figures.KEEPING, "10,000 renewed holds, lease 30 s", "< 2 %", 2));
        }
        all.addAll(otherLocks(StoreKind.REDIS));
        all.addAll(otherLocks(StoreKind.ZOOKEEPER));
        return all;
    }

    private static List<Target> engineAndEmbeddedStore() {
        Wanted memory = new Wanted(StoreKind.MEMORY);
        Wanted sqlite = new Wanted(StoreKind.SQLITE);
        return List.of(
                memory.ratio(Workload.ONE_1X16, Peers.HOLDFAST, Peers.CEILING, 0.5),
                sqlite.ratio(Workload.ONE_1X16, Peers.HOLDFAST, Peers.CEILING, 0.5),
                sqlite.longestWait(Workload.TURNS, 1_000),
                sqlite.jain(Workload.TURNS, 0.95),
                sqlite.handOver(Workload.HAND_OVER, 2),
                share(
                        sqlite,
                        Figures.WAITING,
                        "a process that only waits, two others taking turns of 10 ms",
                        "≤ 2 %",
                        2),
                sqlite.figure(
                        Figures.on(StoreKind.SQLITE, Figures.HEAP_GROWTH),
                        "SQLite, up to 100,000 names used once: growth of the heap",
                        "≤ 0.5 MB",
                        0.5,
                        bytes -> bytes / 1e6,
                        "%.2f MB"),
                sqlite.figure(
                        CommandLineFigures.RUN_TRUE,
                        "holdfast run x -- true, median of 11",
                        "≤ 0.6 s",
                        0.6,
                        seconds -> seconds,
                        "%.2f s"),
                sqlite.figure(
                        CommandLineFigures.CLONE_TO_DEMO,
                        "git clone, then holdfast demo, empty Maven repository",
                        "≤ 180 s",
                        180,
                        seconds -> seconds,
                        "%.0f s"));
    }

    private static Target share(Wanted wanted, String figure, String what, String bound, double percent) {
        return wanted.figure(
                Figures.on(wanted.store(), figure),
                wanted.store().title() + ", " + what + ": share of a core",
                bound,
                percent,
                share -> 100 * share,
                "%.2f %%");
    }

    private static List<Target> redis() {
        Wanted redis = new Wanted(StoreKind.REDIS);
        List<Target> targets = new ArrayList<>(redis.ownLockNotWorse());
        targets.addAll(List.of(
                redis.ratio(Workload.OWN_1, Peers.HOLDFAST, Peers.FLOOR, 1.3),
                redis.ratio(Workload.OWN_1, Peers.NO_HAND_OVER, Peers.FLOOR, 1.3),
                redis.ratio(Workload.OWN_16, Peers.HOLDFAST, Peers.FLOOR, 0.8),
                redis.ratio(Workload.OWN_16, Peers.NO_HAND_OVER, Peers.FLOOR, 0.8),
                redis.ratio(Workload.ONE_2X16, Peers.HOLDFAST, "redisson", 20),
                redis.atMost(Workload.ONE_2X16, Peers.HOLDFAST, Figure.WAIT_P99, Beside.of("redisson"), 0.08),
                redis.ratioToBest(Workload.ONE_2X16, Peers.HOLDFAST, 1),
                redis.atMost(Workload.ONE_2X16, Peers.HOLDFAST, Figure.WAIT_P99, Beside.BEST, 1),
                redis.jain(Workload.ONE_2X16, 0.95),
                redis.ratio(Workload.ONE_2X16, Peers.STRICT_FIFO, "redisson-fair", 3)));
        targets.addAll(redis.noneWorse());
        for (String workload : List.of(Workload.ONE_2X1, Workload.WAITING_20, Workload.WAITING_200)) {
            targets.add(redis.perTurn(workload, "scripts", 2));
            targets.add(redis.perTurn(workload, "publish", 1));
        }
        targets.add(share(redis, Figures.KEEPING_MANY, "100,000 renewed holds, lease 30 s", "≤ 4 %", 4));
        targets.add(redis.figure(
                Figures.on(StoreKind.REDIS, Figures.HEAP_OF_MANY),
                "Redis, 100,000 renewed holds: growth of the heap",
                "≤ 70 MB",
                70,
                bytes -> bytes / 1e6,
                "%.0f MB"));
        targets.add(redis.figure(
                Figures.on(StoreKind.REDIS, Figures.KEYS_LATER),
                "Redis, keys left a minute after up to 100,000 names were used once",
                "0",
                0,
                keys -> Math.max(0, keys), // fewer than before: some of an earlier workload went as well
                "%.0f"));
        return targets;
    }

    private static List<Target> zooKeeper() {
        Wanted zooKeeper = new Wanted(StoreKind.ZOOKEEPER);
        List<Target> targets = new ArrayList<>(zooKeeper.ownLockNotWorse());
        targets.addAll(List.of(
                zooKeeper.ratioToBest(Workload.OWN_1, Peers.HOLDFAST, 1.3),
                zooKeeper.ratioToBest(Workload.ROUND_TRIP, Peers.HOLDFAST, 2.2),
                zooKeeper.ratio(Workload.ONE_2X16, Peers.HOLDFAST, "curator", 100),
                zooKeeper.ratioToBest(Workload.ONE_2X16, Peers.HOLDFAST, 1),
                zooKeeper.jain(Workload.ONE_2X16, 0.95)));
        targets.addAll(zooKeeper.noneWorse());
        for (String workload : List.of(Workload.ONE_2X1, Workload.WAITING_20, Workload.WAITING_200)) {
            targets.add(zooKeeper.perTurn(workload, "packets", 13));
        }
        return targets;
    }

    private static List<Target> etcd() {
        Wanted etcd = new Wanted(StoreKind.ETCD);
        List<Target> targets = new ArrayList<>(etcd.ownLockNotWorse());
        targets.addAll(List.of(
                etcd.ratioToBest(Workload.OWN_1, Peers.HOLDFAST, 1),
                etcd.ratio(Workload.ONE_2X16, Peers.HOLDFAST, Peers.JETCD, 20),
                etcd.jain(Workload.ONE_2X16, 0.95)));
        targets.addAll(etcd.noneWorse());
        return targets;
    }

    private static List<Target> sql(StoreKind store) {
        Wanted sql = new Wanted(store);
        List<Target> targets = new ArrayList<>(sql.ownLockNotWorse());
        targets.addAll(List.of(
                sql.ratioToBest(Workload.OWN_1, Peers.HOLDFAST, 1.5),
                sql.ratioToBest(Workload.OWN_16, Peers.HOLDFAST, 1.5),
                sql.ratio(Workload.ONE_2X16, Peers.HOLDFAST, "spring-jdbc", 20),
                sql.atMost(Workload.ONE_2X16, Peers.HOLDFAST, Figure.WAIT_P99, Beside.of("spring-jdbc"), 0.1),
                sql.ratioToBest(Workload.ONE_2X16, Peers.HOLDFAST, 1),
                sql.atMost(Workload.ONE_2X16, Peers.HOLDFAST, Figure.WAIT_P99, Beside.BEST, 1),
                sql.jain(Workload.ONE_2X16, 0.95)));
        targets.addAll(sql.noneWorse());
        return targets;
    }

    /** Read-write locks, semaphores and multi-locks. */
    private static List<Target> otherLocks(StoreKind store) {
        Wanted wanted = new Wanted(store);
        List<Target> targets = new ArrayList<>(List.of(
                wanted.ratioToBest(Workload.READS, Peers.HOLDFAST, 5),
                wanted.atMost(Workload.READS, Peers.HOLDFAST, Figure.WRITER_P99, Beside.BEST, 1),
                wanted.ratioToBest(Workload.READS, Peers.NO_HAND_OVER, 1),
                wanted.ratioToBest(Workload.READS_10, Peers.HOLDFAST, 1),
                wanted.atMost(Workload.READS_10, Peers.HOLDFAST, Figure.WRITER_P99, Beside.BEST, 1),
                wanted.ratioToBest(Workload.SEMAPHORE, Peers.HOLDFAST, 5),
                wanted.ratioToBest(Workload.SEMAPHORE, Peers.NO_HAND_OVER, 1),
                wanted.ratioToBest(Workload.SEMAPHORE_10, Peers.HOLDFAST, 1),
                wanted.ratioToBest(Workload.MULTI, Peers.AWAIT_RELEASE, 1),
                wanted.ratioToBest(Workload.MULTI, Peers.HOLDFAST, 1)));
        if (store == StoreKind.REDIS) {
            targets.add(wanted.roundTrips(Workload.MULTI_ROUND_TRIP, Peers.HOLDFAST, 1));
            targets.add(wanted.roundTrips(Workload.MULTI_ROUND_TRIP, Peers.NO_HAND_OVER, 1));
        }
        return targets;
    }
}
