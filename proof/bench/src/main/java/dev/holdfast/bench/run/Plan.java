package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.run.Workload.Jvm;
import dev.holdfast.bench.run.Workload.Tier;
import java.time.Duration;
import java.util.Optional;

/**
 * How thorough a run is.
 *
 * @param tier which workloads it has
 * @param warmUp how long each peer runs a workload before it counts
 * @param round how long a round is
 * @param rounds how many there are, the peers taking turns
 */
public record Plan(Tier tier, Duration warmUp, Duration round, int rounds) {
    /** Three minutes in all, to see that everything works; few rounds, and Holdfast only as it comes. */
    public static final Plan QUICK = new Plan(Tier.QUICK, Duration.ofMillis(200), Duration.ofMillis(250), 2);

    /** Enough for ratios, and for the 99th percentile at a service's pace. */
    public static final Plan NORMAL = new Plan(Tier.NORMAL, Duration.ofMillis(250), Duration.ofSeconds(1), 3);

    /** Everything, for long tails as well. */
    public static final Plan FULL = new Plan(Tier.FULL, Duration.ofSeconds(2), Duration.ofSeconds(4), 5);

    /** Three minutes less what the last workload and the report may take. */
    private static final Duration QUICK_BUDGET = Duration.ofSeconds(160);

    /** What a new JVM is warmed up for at least and at most, and with how many turns. */
    private static final Duration NEW_JVM = Duration.ofSeconds(6);

    private static final Duration NEW_JVM_AT_MOST = Duration.ofSeconds(30);
    private static final long NEW_JVM_TURNS = 10_000;

    /** The share of a core that the compilers of a warm JVM may take. */
    static final double QUIET = 0.05;

    /** How many times its shortest warm-up a JVM that was warm for another workload may take for the next. */
    private static final int PATIENCE = 12;

    /** The shortest round at a service's pace, and every one of new JVMs, of interest while they are that old. */
    private static final Duration PACED = Duration.ofSeconds(4);

    private static final Duration JVM_START = Duration.ofSeconds(2);

    /** What starting, ending and counting add to a round. */
    private static final Duration OVERHEAD = Duration.ofMillis(120);

    /** Whether a peer takes part. */
    public boolean has(PeerKind peer) {
        return tier != Tier.QUICK
                || peer.role() != Role.HOLDFAST
                || peer.id().equals(Peers.HOLDFAST)
                || peer.id().equals(Peers.AWAIT_RELEASE);
    }

    /** When JVMs that are new are warm. */
    WarmUp ofNewJvms() {
        return tier == Tier.QUICK
                ? WarmUp.glance(warmUp)
                : new WarmUp(Duration.ofSeconds(1), NEW_JVM, NEW_JVM_TURNS, QUIET, NEW_JVM_AT_MOST);
    }

    /** When JVMs that were warm for another workload are warm for the next. */
    WarmUp ofKnownJvms() {
        return tier == Tier.QUICK
                ? WarmUp.glance(warmUp)
                : new WarmUp(warmUp, warmUp, 0, QUIET, warmUp.multipliedBy(PATIENCE));
    }

    /**
     * How long a round of a workload is. At a pace it is long enough for the 99th percentile; in a full run all rounds
     * together are long enough for the 99.9th.
     */
    public Duration roundOf(Workload workload) {
        if (tier == Tier.QUICK || !workload.load().isPaced()) {
            return round.multipliedBy(workload.length());
        }
        if (workload.jvm() == Jvm.FRESH) {
            return PACED;
        }
        double perSecond = workload.load().intendedPerSecond();
        Duration length = longer(longer(round, PACED), Quantiles.roundFor(99, perSecond));
        return tier == Tier.FULL
                ? longer(length, Quantiles.roundFor(99.9, perSecond).dividedBy(rounds))
                : length;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    /** How long all stores together may take: then what is left is left out. Nothing for a run that takes its time. */
    public Optional<Duration> budget() {
        return tier == Tier.QUICK ? Optional.of(QUICK_BUDGET) : Optional.empty();
    }

    /** About how long one peer takes for one workload. */
    public Duration ofOneCell(Workload workload) {
        Duration all = roundOf(workload).plus(OVERHEAD).multipliedBy(rounds);
        return workload.jvm() == Jvm.FRESH
                ? all.plus(JVM_START.multipliedBy(rounds))
                : all.plus(warmUp).plus(OVERHEAD);
    }

    @Override
    public String toString() {
        String warm = tier == Tier.QUICK
                ? "after %d ms, which leaves JVMs cold".formatted(warmUp.toMillis())
                : "in JVMs that have run for %d s at least, for %,d turns, and until their compilers took less than %.0f %% of a core"
                        .formatted(NEW_JVM.toSeconds(), NEW_JVM_TURNS, 100 * QUIET);
        return "%d rounds of %d ms each (longer where a quantile needs it), the peers taking turns, %s"
                .formatted(rounds, round.toMillis(), warm);
    }
}
