package dev.holdfast.bench.run;

import dev.holdfast.bench.run.Load.Locks;
import dev.holdfast.bench.run.Workload.Jvm;
import dev.holdfast.bench.run.Workload.Tier;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * At the pace of a service: its threads pause, and most locks are free. Each thread pauses 0 to 20 ms, takes one of 200
 * names, half of the time one of the same 20, and holds it for 2 ms. What else a service meets comes beside it.
 */
public final class ServiceWorkloads {
    public static final String SERVICE_1X1 = "service-1x1";
    public static final String SERVICE_1X16 = "service-1x16";
    public static final String SERVICE_2X16 = "service-2x16";
    public static final String SERVICE_ROUND_TRIP = "service-1x1-round-trip-2ms";

    /** Follows the id of a workload in warm JVMs. */
    public static final String FRESH = "-fresh";

    public static final String ZIPF = "names-zipf";
    public static final String ONCE = "names-once";
    public static final String THINK = "own-think";
    public static final String TRIES = "tries-20";
    public static final String TIMED_TRIES = "tries-timed";
    public static final String ONE_HALF_MILLI = "one-2x16-round-trip-500us";
    public static final String ONE_TWO_MILLIS = "one-2x16-round-trip-2ms";

    private static final Duration HOLD = Duration.ofMillis(2);
    private static final Pace PACE = Pace.millis(0, 20);

    private ServiceWorkloads() {}

    /** At a service's pace, the first tables of the report. */
    static List<Workload> service() {
        return Stream.of(
                        Stream.of(
                                service(SERVICE_1X1, "1 process × 1 thread", 1, 1, Tier.NORMAL),
                                service(SERVICE_1X16, "1 process × 16 threads", 1, 16, Tier.QUICK),
                                service(SERVICE_2X16, "2 processes × 16 threads", 2, 16, Tier.NORMAL)),
                        Stream.of(
                                fresh(SERVICE_1X1, "1 process × 1 thread", 1, 1),
                                fresh(SERVICE_1X16, "1 process × 16 threads", 1, 16),
                                fresh(SERVICE_2X16, "2 processes × 16 threads", 2, 16)),
                        Stream.of(new Workload(
                                SERVICE_ROUND_TRIP,
                                "at a service's pace, 1 process × 1 thread, 2 ms of round trip added",
                                load(1, 1).through(Duration.ofMillis(2)),
                                Tier.NORMAL)))
                .flatMap(some -> some)
                .toList();
    }

    /** Beside it. */
    static List<Workload> beside() {
        return List.of(
                new Workload(
                        ZIPF,
                        "at a service's pace, 100,000 names, few of them often, 2 processes × 16 threads",
                        load(2, 16).on(Locks.ZIPF),
                        Tier.NORMAL),
                new Workload(
                        ONCE,
                        "at a service's pace, each name used once, 1 process × 16 threads",
                        load(1, 16).on(Locks.ONCE),
                        Tier.NORMAL),
                new Workload(
                        THINK,
                        "own locks, 16 threads, held 2 ms, 5 to 50 ms of thought between",
                        Load.own(16).holding(HOLD).at(Pace.millis(5, 50)),
                        Tier.NORMAL),
                new Workload(
                        TRIES,
                        "failed tries by 20 clients, every 0 to 20 ms, of a lock that another process holds",
                        Load.one(2, 1).on(Locks.KEPT).clients(10).at(PACE).tryingFor(Duration.ZERO),
                        Tier.NORMAL),
                new Workload(
                        TIMED_TRIES,
                        "one lock, 2 processes × 16 threads, held 10 ms, tries of 20 ms that mostly run out",
                        Load.one(2, 16).holding(Duration.ofMillis(10)).tryingFor(Duration.ofMillis(20)),
                        Tier.NORMAL),
                new Workload(
                        ONE_HALF_MILLI,
                        "one lock, 2 processes × 16 threads, 0.5 ms of round trip added",
                        Load.one(2, 16).through(Duration.ofNanos(500_000)),
                        Tier.NORMAL),
                new Workload(
                        ONE_TWO_MILLIS,
                        "one lock, 2 processes × 16 threads, 2 ms of round trip added",
                        Load.one(2, 16).through(Duration.ofMillis(2)),
                        Tier.NORMAL));
    }

    private static Workload service(String id, String shape, int processes, int threads, Tier tier) {
        return new Workload(id, "at a service's pace, " + shape + ", warm JVM", load(processes, threads), tier);
    }

    private static Workload fresh(String id, String shape, int processes, int threads) {
        return new Workload(
                id + FRESH,
                "at a service's pace, " + shape + ", fresh JVM",
                load(processes, threads),
                Tier.NORMAL,
                Jvm.FRESH);
    }

    private static Load load(int processes, int threads) {
        return Load.one(processes, threads).on(Locks.OF_A_SERVICE).holding(HOLD).at(PACE);
    }
}
