package dev.holdfast.bench.trial;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.trial.EtcdRival.Library;
import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.EtcdCluster;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Who believes to hold a lock of etcd while another has it. Holdfast and jetcd's lock client meet the same faults of the same
 * three members, each with a lock of its own that one client holds and another waits for.
 *
 * <pre>
 *   member cut off  that of the holder, which it still reaches: the leader, then a follower, …
 *   leader stopped  that of the holder; cut off before it goes on, and for a while it answers as the leader that it was
 *   leader killed   the holder lives, and reaches the others
 *
 *   one client     holds ──────────────────────────────── believes ───┐
 *   the servers             fault ── election ── its lease ends       │
 *   the other      waits ──────────────────────────────── granted ────┤ both at once, if this is later
 * </pre>
 */
final class EtcdTrial {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** After the grant of the other, as long as the first is watched. */
    private static final Duration LONGER = EtcdRival.LEASE.multipliedBy(2);

    /** So long that the others have elected; by then no lease is over, since each was renewed a third of it before. */
    private static final Duration STOP = EtcdRival.LEASE.multipliedBy(6).dividedBy(10);

    private static final Duration SAMPLE = Duration.ofMillis(1);

    /** What was seen of one way to tell. */
    private static final class Seen {
        int rounds;
        final List<Long> together = new ArrayList<>();
    }

    private final Map<String, Map<String, Seen>> seen = new TreeMap<>();
    private final Map<String, Map<Library, List<Long>>> waits = new TreeMap<>();
    private final Map<Library, Integer> failures = new EnumMap<>(Library.class);
    private int locks;

    private EtcdTrial() {}

    /** Whether no hold of Holdfast was valid beside its successor. */
    static boolean run(int rounds) throws Exception {
        EtcdTrial trial = new EtcdTrial();
        try (EtcdCluster cluster = EtcdCluster.start()) {
            for (int i = 0; i < rounds; i++) {
                trial.cutOff(cluster, i % 2 == 0 ? cluster.leader() : cluster.follower(), Duration.ZERO);
                trial.cutOff(cluster, cluster.leader(), STOP);
                trial.leaderKilled(cluster);
                System.err.println("round " + (i + 1) + " of " + rounds);
            }
        }
        return trial.print(rounds);
    }

    private void cutOff(EtcdCluster cluster, int member, Duration stopped) throws Exception {
        String others = IntStream.range(0, EtcdCluster.MEMBERS)
                .filter(i -> i != member)
                .mapToObj(i -> cluster.member(i).endpoint())
                .collect(Collectors.joining(","));
        ServerProcess process = cluster.member(member).process();
        String fault = stopped.isZero() ? "member cut off" : "leader stopped";
        round(
                fault,
                cluster.member(member).endpoint(),
                others,
                () -> {
                    cluster.cutOff(member);
                    if (!stopped.isZero()) {
                        process.stop();
                    }
                },
                pairs -> {
                    if (!stopped.isZero()) {
                        Schedule.pause(stopped);
                        process.cont();
                    }
                });
        cluster.heal();
        int unused = cluster.leader();
    }

    /** The holder keeps its lock, gives it back when the others have elected, and may have lost it by then. */
    private void leaderKilled(EtcdCluster cluster) throws Exception {
        int leader = cluster.leader();
        String all = cluster.endpoints();
        round("leader killed", all, all, () -> cluster.member(leader).process().kill(), pairs -> {
            int unused = cluster.leader();
            Schedule.pause(EtcdRival.LEASE);
            pairs.forEach(pair -> pair.holder.release());
        });
        cluster.member(leader).process().restart();
        int unused = cluster.leader();
    }

    private interface Ending {
        void of(List<Pair> pairs);
    }

    private void round(String fault, String holders, String waiters, Runnable begin, Ending ending) throws Exception {
        List<Pair> pairs = new ArrayList<>();
        try {
            for (Library library : Library.values()) {
                pairs.add(new Pair(library, holders, waiters, "lock-" + ++locks));
            }
            for (Pair pair : pairs) {
                pair.begin();
            }
            long began = System.nanoTime();
            begin.run();
            List<CompletableFuture<Void>> watched = pairs.stream()
                    .map(pair -> CompletableFuture.runAsync(pair::watch, task -> new Thread(task).start()))
                    .toList();
            ending.of(pairs);
            watched.forEach(CompletableFuture::join);
            pairs.forEach(pair -> note(fault, pair, began));
        } finally {
            pairs.stream().parallel().forEach(Pair::close);
        }
    }

    private void note(String fault, Pair pair, long began) {
        waits.computeIfAbsent(fault, any -> new EnumMap<>(Library.class))
                .computeIfAbsent(pair.library, any -> new ArrayList<>())
                .add(pair.granted - began);
        failures.merge(pair.library, pair.waiter.failures(), Integer::sum);
        pair.believed.forEach((how, last) -> {
            Seen all = seen.computeIfAbsent(fault, any -> new TreeMap<>()).computeIfAbsent(how, any -> new Seen());
            all.rounds++;
            if (last - pair.granted > 0) {
                all.together.add(last - pair.granted);
            }
        });
    }

    /** One that holds a lock, and one that waits for it, of one library. */
    private static final class Pair implements AutoCloseable {
        final Library library;
        final EtcdRival holder;
        final EtcdRival waiter;
        /** By each way to tell: when the first was last asked whether it holds, and said yes. */
        final Map<String, Long> believed = new TreeMap<>();

        private CompletableFuture<Long> waiting = new CompletableFuture<>();
        long granted;

        Pair(Library library, String holders, String waiters, String lock) throws Exception {
            this.library = library;
            holder = library.connect(holders, lock);
            waiter = library.connect(waiters, lock);
        }

        void begin() throws Exception {
            Object unused = holder.acquire().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            waiting = waiter.acquire().thenApply(answer -> System.nanoTime());
            if (!Await.until(PATIENCE, () -> waiter.claims() == 2)) {
                throw new IllegalStateException(library + ": the claim of the second client did not reach the servers");
            }
            holder.beliefs().keySet().forEach(how -> believed.put(how, System.nanoTime()));
        }

        /** Until the other has been granted the lock, and the first believes no longer or for too long. */
        void watch() {
            Map<String, BooleanSupplier> beliefs = holder.beliefs();
            long end = System.nanoTime() + PATIENCE.toNanos();
            boolean believes = true;
            while (!waiting.isDone() || believes && System.nanoTime() - waiting.join() < LONGER.toNanos()) {
                believes = false;
                for (Map.Entry<String, BooleanSupplier> each : beliefs.entrySet()) {
                    long now = System.nanoTime();
                    if (each.getValue().getAsBoolean()) {
                        believed.put(each.getKey(), now);
                        believes = true;
                    }
                }
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(library + ": the second client was not granted the lock");
                }
                Schedule.pause(SAMPLE);
            }
            granted = waiting.join();
        }

        @Override
        public void close() {
            holder.close();
            waiter.close();
        }
    }

    private boolean print(int rounds) throws Exception {
        Trial.describe("three members of etcd, " + rounds + " faults of each kind, leases of "
                + EtcdRival.LEASE.toSeconds() + " s, a lock for each library");
        Trial.head("fault", "holds, by", "rounds", "beside its successor", "longest ms");
        seen.forEach((fault, ways) -> ways.forEach(
                (how, all) -> Trial.row(fault, how, all.rounds, all.together.size(), Trial.millis(all.together, 1))));
        System.out.println();
        Trial.head("fault", "library", "until the other had it, median ms", "longest ms");
        waits.forEach((fault, libraries) -> libraries.forEach(
                (library, all) -> Trial.row(fault, library, Trial.millis(all, 0.5), Trial.millis(all, 1))));
        System.out.println();
        failures.forEach((library, times) ->
                System.out.println(library + ": waits that failed, and were begun again: " + times));
        return seen.values().stream()
                .flatMap(ways -> ways.entrySet().stream())
                .filter(way -> way.getKey().startsWith("Holdfast"))
                .allMatch(way -> Objects.requireNonNull(way.getValue()).rounds == rounds
                        && way.getValue().together.isEmpty());
    }
}
