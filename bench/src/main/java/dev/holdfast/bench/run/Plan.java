package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
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

    /** Enough for ratios. */
    public static final Plan NORMAL = new Plan(Tier.NORMAL, Duration.ofMillis(250), Duration.ofMillis(500), 3);

    /** Everything, for long tails as well. */
    public static final Plan FULL = new Plan(Tier.FULL, Duration.ofSeconds(2), Duration.ofSeconds(4), 5);

    /** Three minutes less what the last workload and the report may take. */
    private static final Duration QUICK_BUDGET = Duration.ofSeconds(160);

    /** How much longer a JVM that has just begun is warmed up: its compiler is not done before. */
    private static final int FRESH = 5;

    /** What starting, ending and counting add to a round. */
    private static final Duration OVERHEAD = Duration.ofMillis(120);

    /** Whether a peer takes part. */
    public boolean has(PeerKind peer) {
        return tier != Tier.QUICK || peer.role() != Role.HOLDFAST || peer.id().equals(Peers.HOLDFAST);
    }

    /** How long a peer runs a workload before it counts. */
    Duration warmUp(boolean warm) {
        return warm || tier == Tier.QUICK ? warmUp : warmUp.multipliedBy(FRESH);
    }

    /** How long all stores together may take: then what is left is left out. Nothing for a run that takes its time. */
    public Optional<Duration> budget() {
        return tier == Tier.QUICK ? Optional.of(QUICK_BUDGET) : Optional.empty();
    }

    /** About how long one peer takes for one workload. */
    public Duration ofOneCell() {
        return warmUp.plus(OVERHEAD).plus(round.plus(OVERHEAD).multipliedBy(rounds));
    }

    @Override
    public String toString() {
        return "%d rounds of %d ms each, the peers taking turns, after %d ms of warm-up"
                .formatted(rounds, round.toMillis(), warmUp.toMillis());
    }
}
