package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Two permits for three workers. */
final class SomePermits implements Workload {
    private static final int PERMITS = 2;

    @Override
    public String id() {
        return "permits";
    }

    @Override
    public String title() {
        return "two permits";
    }

    @Override
    public Mode mode(Random random) {
        return new Mode.Permits(1, PERMITS);
    }

    /** Beside a holder that stays, one permit too many is held by both others at once. */
    @Override
    public Duration longestHold(boolean besidePinned) {
        return Duration.ofMillis(besidePinned ? 200 : 4);
    }

    @Override
    public List<Check> checks() {
        return List.of(new Exclusion("permits"));
    }
}
