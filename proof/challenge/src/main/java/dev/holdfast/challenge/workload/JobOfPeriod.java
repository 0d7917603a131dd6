package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Duplicates;
import dev.holdfast.challenge.check.Exclusion;
import java.time.Duration;
import java.util.List;

/** A job that every worker's timer begins, and one of them finishes in each period. */
public final class JobOfPeriod implements Workload {
    /** How long a period is. */
    public static final Duration PERIOD = Duration.ofMillis(500);

    /** How long a run may take: a run that was stopped or killed is given up after it. */
    public static final Duration AT_MOST = Duration.ofSeconds(10);

    @Override
    public String id() {
        return "period";
    }

    @Override
    public String title() {
        return "job of a period";
    }

    @Override
    public boolean isForEach() {
        return false;
    }

    @Override
    public List<Check> checks() {
        return List.of(new Exclusion("exclusive"), Duplicates.runs());
    }
}
