package dev.holdfast.bench.trial;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A Redis Cluster of three masters beside one server: how many turns 16 threads have on 16 locks of their own, and how long
 * threads wait that lock at the pace of a service.
 */
final class ClusterTrial {
    private static final int MASTERS = 3;
    private static final int THREADS = 16;
    private static final int ROUNDS = 12;
    private static final Duration ROUND = Duration.ofSeconds(1);
    private static final Duration HOLD = Duration.ofMillis(2);
    private static final long LONGEST_PAUSE = Duration.ofMillis(20).toNanos();
    private static final int NAMES = 200;
    private static final int OFTEN = 20;
    private static final double WANTED_TURNS = 1.0;
    private static final double WANTED_WAIT = 1.1;
    private static final double MILLIS = 1e6;
    private static final String OWN = "own-";

    /** A client of one server or of the cluster. */
    private record Contender(String title, Peer peer) {}

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private boolean kept = true;

    private ClusterTrial() {}

    /** Whether the cluster keeps its bounds. */
    static boolean run() throws Exception {
        ClusterTrial trial = new ClusterTrial();
        try (RedisServer single = RedisServer.start();
                RedisCluster cluster = RedisCluster.start(MASTERS, 0)) {
            trial.run(single.uri(), "redis-cluster://" + cluster.hosts(), cluster);
        } finally {
            trial.threads.shutdown();
        }
        return trial.kept;
    }

    private void run(String single, String cluster, RedisCluster nodes) throws Exception {
        Map<Integer, Long> spread = IntStream.range(0, THREADS)
                .mapToObj(i -> nodes.master(nodes.slot("holdfast:{" + OWN + i + "}")))
                .collect(Collectors.groupingBy(RedisServer::port, Collectors.counting()));
        Trial.describe("one server beside a cluster of " + MASTERS + " masters, taking turns in " + ROUNDS
                + " rounds of " + ROUND.toMillis() + " ms; the 16 locks lie on the masters so: " + spread.values());
        Trial.head("Holdfast", "one server", "cluster", "cluster / one server", "wanted");
        ownLocks("16 threads, own locks: turns/s", Peers.HOLDFAST, single, cluster);
        ownLocks("the same, each turn sent to the store", Peers.NO_HAND_OVER, single, cluster);
        ownLocks("the same, each release confirmed", Peers.AWAIT_RELEASE, single, cluster);
        atAServicesPace("at a service's pace, 1 thread: median wait ms", 1, single, cluster);
        atAServicesPace("at a service's pace, 16 threads: median wait ms", THREADS, single, cluster);
        Trial.describe("after all rounds");
    }

    private void ownLocks(String title, String peer, String single, String cluster) throws Exception {
        List<Double> turns = compared(peer, single, cluster, contender -> List.of(turnsPerSecond(contender)));
        double ratio = turns.get(1) / turns.get(0);
        kept &= ratio >= WANTED_TURNS;
        Trial.row(
                title,
                "%,.0f".formatted(turns.get(0)),
                "%,.0f".formatted(turns.get(1)),
                "%.2f".formatted(ratio),
                "≥ " + WANTED_TURNS);
    }

    private void atAServicesPace(String title, int count, String single, String cluster) throws Exception {
        List<Double> waits = compared(Peers.HOLDFAST, single, cluster, contender -> waits(contender, count));
        double ratio = waits.get(1) / waits.get(0);
        kept &= ratio <= WANTED_WAIT;
        Trial.row(
                title,
                "%.3f".formatted(waits.get(0)),
                "%.3f".formatted(waits.get(1)),
                "%.2f".formatted(ratio),
                "≤ " + WANTED_WAIT);
    }

    /** The medians of one server and of the cluster. */
    private static List<Double> compared(
            String peer, String single, String cluster, TakingTurns.Round<Contender, Double> round) throws Exception {
        try (Peer one = Peers.of(peer, StoreKind.REDIS).connect(single, 1);
                Peer several = Peers.of(peer, StoreKind.REDIS).connect(cluster, 1)) {
            return TakingTurns.figures(
                            List.of(new Contender("one server", one), new Contender("cluster", several)), ROUNDS, round)
                    .values()
                    .stream()
                    .map(TakingTurns::median)
                    .toList();
        }
    }

    private double turnsPerSecond(Contender contender) throws Exception {
        long begun = System.nanoTime();
        List<Integer> turns = onThreads(THREADS, thread -> {
            PeerLock lock = contender.peer.open(OWN + thread, Mode.EXCLUSIVE);
            int count = 0;
            while (System.nanoTime() - begun < ROUND.toNanos()) {
                lock.acquire();
                lock.release();
                count++;
            }
            return count;
        });
        return turns.stream().mapToInt(Integer::intValue).sum() * 1e9 / (System.nanoTime() - begun);
    }

    /** In milliseconds. Each thread pauses, takes a name, half of the time one of the same few, and holds it for a while. */
    private List<Double> waits(Contender contender, int count) throws Exception {
        long begun = System.nanoTime();
        return onThreads(count, thread -> {
                    ThreadLocalRandom random = ThreadLocalRandom.current();
                    List<Double> waits = new ArrayList<>();
                    while (System.nanoTime() - begun < ROUND.toNanos()) {
                        Schedule.pause(Duration.ofNanos(random.nextLong(LONGEST_PAUSE)));
                        int name = random.nextInt(random.nextBoolean() ? OFTEN : NAMES);
                        PeerLock lock = contender.peer.open("service-" + name, Mode.EXCLUSIVE);
                        long asked = System.nanoTime();
                        lock.acquire();
                        waits.add((System.nanoTime() - asked) / MILLIS);
                        Schedule.pause(HOLD);
                        lock.release();
                    }
                    return waits;
                })
                .stream()
                .flatMap(List::stream)
                .toList();
    }

    /** What one thread does; which one it is, from 0. */
    private interface Work<T> {
        T of(int thread) throws Exception;
    }

    private <T> List<T> onThreads(int count, Work<T> work) throws Exception {
        List<Callable<T>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int thread = i;
            tasks.add(() -> work.of(thread));
        }
        List<T> done = new ArrayList<>();
        for (Future<T> each : threads.invokeAll(tasks)) {
            done.add(each.get());
        }
        return done;
    }
}
