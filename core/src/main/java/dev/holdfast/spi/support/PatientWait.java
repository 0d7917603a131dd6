package dev.holdfast.spi.support;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits that no interrupt cuts short, for a store that closes: what it has open would be left. The flag is set again
 * afterwards.
 *
 * <pre>{@code
 * PatientWait.within(placesLeft, Duration.ofSeconds(1));       // in close()
 * }</pre>
 */
public final class PatientWait {
    private PatientWait() {}

    /** Waits for an answer, however it comes, or for a time; whether it has come. */
    public static boolean within(CompletableFuture<?> answer, Duration limit) {
        boolean interrupted = false;
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (true) {
                try {
                    Object unused = answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                    return true;
                } catch (ExecutionException | CancellationException failed) {
                    return true;
                } catch (TimeoutException late) {
                    return false;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
