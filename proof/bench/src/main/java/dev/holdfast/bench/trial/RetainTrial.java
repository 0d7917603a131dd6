package dev.holdfast.bench.trial;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ServerMissingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;

/**
 * What a retained lock costs the client that keeps it, and how soon another client has it.
 *
 * <p>Part one: one client takes each of some names in turn, with a pause before each turn, once with retention and once
 * without; the server's own counters tell what the turns with retention have asked of it, beside the renewals of as long a
 * time without turns. Part two: the client retains a
 * lock that it does not use, and another client acquires it.
 */
final class RetainTrial {
    private static final int NAMES = 20;
    /** With the turns, fewer on each name than 1,024, after which a fresh number is asked for. */
    private static final int WARM_UP = 16_000;

    private static final int TURNS = 4_000;
    private static final int TAKINGS = 200;
    private static final Duration PAUSE = Duration.ofMillis(1);
    private static final double MICROS = 1e3;
    private static final double MILLIS = 1e6;
    private static final double BOUND_MICROS = 5;
    private static final double BOUND_POLLED_MILLIS = 25;

    /** Stores that look whether a lock is wanted, each 20 ms; the others send a message. */
    private static final Set<StoreKind> POLLING = Set.of(StoreKind.SQLITE, StoreKind.MARIADB, StoreKind.POSTGRESQL);

    private static final HoldOptions RETAINED = HoldOptions.defaults().retain(Duration.ofMinutes(10));

    private final Server server;
    private final LockClient keeper;

    private RetainTrial(Server server, LockClient keeper) {
        this.server = server;
        this.keeper = keeper;
    }

    /** Runs it on every store that this machine has a server for; whether the bounds were kept on all. */
    static boolean run() throws Exception {
        Trial.describe(TURNS + " turns on " + NAMES + " names with 1 ms of pause before each, and " + TAKINGS
                + " times another client acquires an idle retained lock");
        Trial.head(
                "store",
                "a turn µs: released each time, median",
                "retained, median",
                "99 %",
                "requests in all turns",
                "in as long without a turn",
                "round trip ms",
                "another client has it after ms, median",
                "longest",
                "bound");
        boolean kept = true;
        for (StoreKind store : StoreKind.values()) {
            if (store != StoreKind.MEMORY) {
                kept &= onStore(store);
            }
        }
        return kept;
    }

    private static boolean onStore(StoreKind store) throws Exception {
        try (Server server = Servers.start(store);
                LockClient keeper = LockClient.connect(server.url());
                LockClient rival = LockClient.connect(server.url())) {
            return new RetainTrial(server, keeper).run(rival);
        } catch (ServerMissingException missing) {
            System.err.println(store.title() + " is left out: " + missing.getMessage());
            return true;
        }
    }

    private boolean run(LockClient rival) throws Exception {
        List<Long> released = turns(HoldOptions.defaults(), "released-", TURNS / 4);
        turns(RETAINED, "kept-", WARM_UP);
        Map<String, Double> before = server.counters();
        long begun = System.nanoTime();
        List<Long> retained = turns(RETAINED, "kept-", TURNS);
        Duration taken = Duration.ofNanos(System.nanoTime() - begun);
        String requests = requests(before, server.counters());
        before = server.counters();
        Schedule.pause(taken); // its locks are renewed meanwhile as well
        String renewals = requests(before, server.counters());
        List<Long> roundTrips = new ArrayList<>();
        List<Long> takings = takings(rival, roundTrips);

        double roundTrip = Trial.quantile(roundTrips, 0.5) / MILLIS;
        double bound = POLLING.contains(server.kind()) ? BOUND_POLLED_MILLIS : 2 * roundTrip + 1;
        double turn = Trial.quantile(retained, 0.5) / MICROS;
        double taking = Trial.quantile(takings, 0.5) / MILLIS;
        Trial.row(
                server.kind().title(),
                format(Trial.quantile(released, 0.5) / MICROS),
                format(turn),
                format(Trial.quantile(retained, 0.99) / MICROS),
                requests,
                renewals,
                format(roundTrip),
                format(taking),
                format(Trial.quantile(takings, 1) / MILLIS),
                format(bound));
        return turn <= BOUND_MICROS && taking <= bound;
    }

    private List<Long> turns(HoldOptions options, String prefix, int count) throws Exception {
        List<DistributedLock> locks = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            locks.add(keeper.lock(prefix + i, options));
        }
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (count < WARM_UP) {
                Schedule.pause(PAUSE);
            }
            long begun = System.nanoTime();
            try (Hold hold = locks.get(i % NAMES).acquire()) {
                times.add(System.nanoTime() - begun);
                if (!hold.isValid()) {
                    throw new IllegalStateException("a hold that was lost: " + hold);
                }
            }
        }
        return times;
    }

    private List<Long> takings(LockClient rival, List<Long> roundTrips) throws Exception {
        DistributedLock kept = keeper.lock("wanted", RETAINED);
        DistributedLock other = rival.lock("wanted", HoldOptions.defaults().awaitRelease(true));
        Predicate<Integer> isWarm = i -> i >= TAKINGS / 4;
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < TAKINGS * 5 / 4; i++) {
            kept.acquire().close();
            Schedule.pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(30, 60)));
            long asked = System.nanoTime();
            rival.lock("free").status();
            long begun = System.nanoTime();
            Hold hold = other.acquire();
            long has = System.nanoTime();
            hold.close();
            if (isWarm.test(i)) {
                roundTrips.add(begun - asked);
                times.add(has - begun);
            }
        }
        return times;
    }

    private static String requests(Map<String, Double> before, Map<String, Double> after) {
        for (String counter : List.of("commands", "packets", "statements")) {
            if (before.containsKey(counter) && after.containsKey(counter)) {
                return "%.0f %s".formatted(after.get(counter) - before.get(counter), counter);
            }
        }
        return "–";
    }

    private static String format(double figure) {
        return "%.2f".formatted(figure);
    }
}
