package dev.holdfast.internal;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits, a little at a time, for what others are about to finish. No interrupt ends the wait: the flag is cleared while
 * the thread sleeps, since a thread whose flag is set cannot sleep, and is set again afterwards.
 */
final class UninterruptedWait {
    private UninterruptedWait() {}

    /** Returns once the condition holds; it is checked first, and after each step. */
    static void until(BooleanSupplier condition, Duration step) {
        boolean interrupted = false;
        try {
            while (!condition.getAsBoolean()) {
                LockSupport.parkNanos(condition, step.toNanos());
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
