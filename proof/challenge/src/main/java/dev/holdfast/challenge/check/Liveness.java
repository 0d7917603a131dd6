package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import java.time.Duration;
import java.util.List;

/** Once a fault is over, all who are alive get the lock within a stated time. */
public record Liveness() implements Check {
    @Override
    public String id() {
        return "liveness";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        return history.probes().stream()
                .filter(probe -> probe.obtained() == 0)
                .map(probe -> new Violation(
                        id(),
                        "somebody waited in vain for "
                                + Duration.ofNanos(probe.limitNanos()).toMillis() + " ms",
                        List.of()))
                .toList();
    }
}
