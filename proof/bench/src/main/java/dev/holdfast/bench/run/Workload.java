package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Load.Locks;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One table of the report.
 *
 * @param id how targets and charts name it
 * @param title what people read
 * @param load what the threads do
 * @param tier from which thoroughness on it is run
 * @param jvm how old the worker processes are
 */
public record Workload(String id, String title, Load load, Tier tier, Jvm jvm) {
    /** How old the worker processes are. */
    public enum Jvm {
        /** They run for all rounds, and are measured when their compilers are done. */
        WARM,
        /** New ones for each round, measured from their first turn on. */
        FRESH
    }

    Workload(String id, String title, Load load, Tier tier) {
        this(id, title, load, tier, Jvm.WARM);
    }

    /** How thorough a run is. */
    public enum Tier {
        QUICK,
        NORMAL,
        FULL
    }

    public static final String OWN_1 = "own-1";
    public static final String OWN_16 = "own-16";
    public static final String ONE_1X16 = "one-1x16";
    public static final String ONE_2X16 = "one-2x16";
    public static final String ONE_2X1 = "one-2x1";
    public static final String ONE_4X4 = "one-4x4";
    public static final String HOLD_1 = "hold-1ms";
    public static final String HOLD_10 = "hold-10ms";
    public static final String ROUND_TRIP = "round-trip-2ms";
    public static final String HAND_OVER = "hand-over";
    public static final String TURNS = "turns";
    public static final String WAITING_2 = "waiting-2";
    public static final String WAITING_20 = "waiting-20";
    public static final String WAITING_200 = "waiting-200";
    public static final String READS = "reads-95";
    public static final String READS_10 = "reads-95-10ms";
    public static final String SEMAPHORE = "semaphore-4";
    public static final String SEMAPHORE_10 = "semaphore-4-10ms";
    public static final String MULTI = "multi-5";
    public static final String MULTI_ROUND_TRIP = "multi-5-round-trip-2ms";
    public static final String MULTI_2X16 = "multi-5-2x16";

    private static final int LONGER = 3;
    private static final int LONG = 10;
    private static final Duration MILLI = Duration.ofMillis(1);

    private static final List<Workload> SATURATED = List.of(
            new Workload(OWN_1, "own lock, 1 thread", Load.own(1), Tier.QUICK),
            new Workload(OWN_16, "own locks, 16 threads", Load.own(16), Tier.QUICK),
            new Workload(ONE_1X16, "one lock, 1 process × 16 threads", Load.one(1, 16), Tier.QUICK),
            new Workload(ONE_2X16, "one lock, 2 processes × 16 threads", Load.one(2, 16), Tier.QUICK),
            new Workload(ONE_2X1, "one lock, 2 processes × 1 thread", Load.one(2, 1), Tier.NORMAL),
            new Workload(ONE_4X4, "one lock, 4 processes × 4 threads", Load.one(4, 4), Tier.FULL),
            new Workload(
                    HOLD_1,
                    "one lock, 2 processes × 16 threads, held 1 ms",
                    Load.one(2, 16).holding(MILLI),
                    Tier.FULL),
            new Workload(
                    HOLD_10,
                    "one lock, 2 processes × 16 threads, held 10 ms",
                    Load.one(2, 16).holding(MILLI.multipliedBy(10)),
                    Tier.NORMAL),
            new Workload(
                    ROUND_TRIP,
                    "own lock, 1 thread, 2 ms of round trip added",
                    Load.own(1).through(MILLI.multipliedBy(2)),
                    Tier.NORMAL),
            new Workload(
                    HAND_OVER,
                    "one lock, 2 processes × 1 thread, held 50 ms: how soon the other is in",
                    Load.one(2, 1).holding(MILLI.multipliedBy(50)),
                    Tier.NORMAL),
            new Workload(
                    TURNS,
                    "one lock, 4 processes × 1 thread, held 10 ms",
                    Load.one(4, 1).holding(MILLI.multipliedBy(10)),
                    Tier.NORMAL),
            new Workload(WAITING_2, "one lock, 2 clients × 1 thread", Load.one(2, 1), Tier.FULL),
            new Workload(
                    WAITING_20,
                    "one lock, 20 clients × 1 thread",
                    Load.one(2, 1).clients(10),
                    Tier.NORMAL),
            new Workload(
                    WAITING_200,
                    "one lock, 200 clients × 1 thread",
                    Load.one(2, 1).clients(100),
                    Tier.FULL),
            new Workload(
                    READS,
                    "one read-write lock, 2 processes × 16 threads, 95 % reads",
                    Load.one(2, 16).on(Locks.ONE_MOSTLY_READ),
                    Tier.NORMAL),
            new Workload(
                    READS_10,
                    "one read-write lock, 2 processes × 16 threads, 95 % reads, held 10 ms",
                    Load.one(2, 16).on(Locks.ONE_MOSTLY_READ).holding(MILLI.multipliedBy(10)),
                    Tier.NORMAL),
            new Workload(
                    SEMAPHORE,
                    "one semaphore of 4, 2 processes × 16 threads",
                    Load.one(2, 16).on(Locks.ONE_SEMAPHORE),
                    Tier.NORMAL),
            new Workload(
                    SEMAPHORE_10,
                    "one semaphore of 4, 2 processes × 16 threads, held 10 ms",
                    Load.one(2, 16).on(Locks.ONE_SEMAPHORE).holding(MILLI.multipliedBy(10)),
                    Tier.NORMAL),
            new Workload(
                    MULTI, "5 own locks held together, 1 thread", Load.own(1).on(Locks.OWN_SEVERAL), Tier.NORMAL),
            new Workload(
                    MULTI_ROUND_TRIP,
                    "5 own locks held together, 1 thread, 2 ms of round trip added",
                    Load.own(1).on(Locks.OWN_SEVERAL).through(MILLI.multipliedBy(2)),
                    Tier.NORMAL),
            new Workload(
                    MULTI_2X16,
                    "5 locks held together, 2 processes × 16 threads",
                    Load.one(2, 16).on(Locks.ONE_SEVERAL),
                    Tier.FULL));

    private static final List<Workload> ALL = Stream.of(
                    ServiceWorkloads.service(), SATURATED, ServiceWorkloads.beside())
            .flatMap(List::stream)
            .toList();

    /** Those of a tier and below, in the order of the report. */
    public static List<Workload> upTo(Tier tier) {
        return ALL.stream()
                .filter(workload -> workload.tier.compareTo(tier) <= 0)
                .toList();
    }

    /** All ids, in the order of the report. */
    public static List<String> ids() {
        return ALL.stream().map(Workload::id).toList();
    }

    /** Those of a word of the command line: an id, or what several ids begin with, such as {@code service}. */
    public static List<Workload> named(String word) {
        List<Workload> exact =
                ALL.stream().filter(workload -> workload.id.equals(word)).toList();
        return !exact.isEmpty()
                ? exact
                : ALL.stream()
                        .filter(workload -> workload.id.startsWith(word + "-"))
                        .toList();
    }

    /** The one of that id. */
    public static Workload of(String id) {
        return ALL.stream()
                .filter(workload -> workload.id.equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no workload " + id));
    }

    /** The title of the one of that id. */
    public static String titleOf(String id) {
        return of(id).title;
    }

    /** By how much a round is longer than others: where a turn takes long, and where tails are compared. */
    int length() {
        return switch (id) {
            case TURNS -> LONG;
            case HAND_OVER, ONE_2X16, READS, READS_10, ServiceWorkloads.TIMED_TRIES -> LONGER;
            default -> 1;
        };
    }

    /** By what peers are compared: with a pace, and where tries run out, all have as many turns. */
    public Figure figure() {
        return load.isPaced() || load.isTry() ? Figure.WAIT_P50 : Figure.TURNS;
    }

    /** Whether it makes sense on a store. */
    public boolean suits(StoreKind store) {
        if (id.equals(TURNS)) {
            return store == StoreKind.SQLITE;
        }
        if (id.equals(ServiceWorkloads.SERVICE_ROUND_TRIP)) {
            return store == StoreKind.ZOOKEEPER;
        }
        return switch (store) {
            case MEMORY ->
                !load.isPaced() && load.processes() == 1 && load.roundTrip().isZero();
            case SQLITE -> load.roundTrip().isZero();
            default -> true;
        };
    }

    /** Whether a peer can do it, and it says something about that peer. */
    public boolean suits(PeerKind peer) {
        boolean saysSomething = switch (peer.id()) {
            case Peers.CEILING ->
                figure() == Figure.TURNS && load.roundTrip().isZero() && !id.equals(TURNS) && !id.equals(HAND_OVER);
            case Peers.STRICT_FIFO -> figure() == Figure.TURNS && !id.equals(TURNS);
            case Peers.NO_HAND_OVER -> figure() == Figure.TURNS && !id.equals(TURNS);
            case Peers.AWAIT_RELEASE ->
                !load.isTry() && (!load.isContended() || id.equals(ONE_2X16) || id.equals(ONE_2X1));
            case Peers.SESSION, Peers.UNLOGGED -> id.equals(ONE_2X16) || load.locks() == Locks.OF_A_SERVICE;
            // 100 clients with its default pools and threads in a process are no client anybody has
            case "redisson", "redisson-fair" -> !id.equals(WAITING_200);
            default -> true;
        };
        return saysSomething && (peer.hasTry() || !load.isTry()) && peer.modes().containsAll(modes());
    }

    /** What the peer runs; the ceiling has all its threads in one process. */
    public Load loadOf(PeerKind peer) {
        return peer.role() == Role.CEILING ? load.inOneProcess() : load;
    }

    private Set<Mode> modes() {
        return switch (load.locks()) {
            case OWN, ONE, KEPT, OF_A_SERVICE, ZIPF, ONCE -> EnumSet.of(Mode.EXCLUSIVE);
            case ONE_MOSTLY_READ -> EnumSet.of(Mode.READ, Mode.WRITE);
            case ONE_SEMAPHORE -> EnumSet.of(Mode.PERMIT);
            case OWN_SEVERAL, ONE_SEVERAL -> EnumSet.of(Mode.SEVERAL);
        };
    }
}
