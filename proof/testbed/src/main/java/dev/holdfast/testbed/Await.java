package dev.holdfast.testbed;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The one place where the testbed polls: for conditions of other processes, which signal nobody. */
public final class Await {
    private static final Duration POLL = Duration.ofMillis(2);

    private Await() {}

    /**
     * Polls until the condition is true.
     *
     * @return whether it came true within the patience
     * @throws AssertionError when the waiting thread is interrupted; its interrupt flag stays set
     */
    public static boolean until(Duration patience, BooleanSupplier condition) {
        return until(patience, POLL, condition);
    }

    /** The same, with a pause of its own between two looks, for a condition that costs something. */
    public static boolean until(Duration patience, Duration poll, BooleanSupplier condition) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline >= 0) {
                // This thread may have been off the processor since the look before: the deadline decides after a look.
                return condition.getAsBoolean();
            }
            LockSupport.parkNanos(poll.toNanos());
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("interrupted while awaiting a condition");
            }
        }
        return true;
    }
}
