package dev.holdfast.bench.run;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long a thread pauses after a turn.
 *
 * @param least the shortest pause
 * @param most the longest pause; each between the two is as likely
 */
public record Pace(Duration least, Duration most) {
    /** No pause, and no schedule: a turn begins when the one before it has ended. */
    public static final Pace NONE = new Pace(Duration.ZERO, Duration.ZERO);

    /** A pause between two numbers of milliseconds. */
    public static Pace millis(long least, long most) {
        return new Pace(Duration.ofMillis(least), Duration.ofMillis(most));
    }

    /** Whether there is any. */
    public boolean isNone() {
        return most.isZero();
    }

    /** The mean pause. */
    public Duration mean() {
        return least.plus(most).dividedBy(2);
    }

    long nextNanos(RandomGenerator random) {
        return isNone() ? 0 : random.nextLong(least.toNanos(), most.toNanos() + 1);
    }
}
