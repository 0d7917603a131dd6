package dev.holdfast.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Watches a hold while the command runs.
 *
 * <p>The library reports a loss. The hold is also polled, so that a process that was stopped past its lease detects the
 * loss as soon as it continues. A hold that is not valid and not lost is in doubt (the machine slept, the connection
 * broke). The library then asks the store immediately. Only a doubt that lasts ends the command.
 */
final class HoldWatch {
    /** The time between two checks of a hold, and of processes whose end is awaited. */
    static final Duration POLL = Duration.ofMillis(100);

    private static final Duration LONGEST_DOUBT = Duration.ofSeconds(1);

    /** Why the watch ended. */
    enum End {
        /** The command ended by itself. */
        COMMAND,
        /** The hold is lost. */
        LOST,
        /** The command has held the lock for longer than it may. */
        OVERDUE
    }

    private final Held hold;
    private final long mayHoldNanos;
    private final long began = System.nanoTime();
    private final CountDownLatch lost = new CountDownLatch(1);
    private long lastValid = System.nanoTime();

    /**
     * Begins the watch.
     *
     * @param longest how long the command may hold the lock; null is for ever
     */
    HoldWatch(Held hold, @Nullable Duration longest) {
        this.hold = hold;
        this.mayHoldNanos = longest == null ? Long.MAX_VALUE : longest.toNanos();
        hold.onLost(lost::countDown);
    }

    /** Waits until the command ends by itself, or its hold or its time does. */
    End untilEndOf(ChildCommand child) throws InterruptedException {
        while (!child.awaitEnd(POLL)) {
            if (isLost()) {
                return End.LOST;
            }
            if (System.nanoTime() - began >= mayHoldNanos) {
                return End.OVERDUE;
            }
        }
        return End.COMMAND;
    }

    /** Restarts the count of a doubt, after a time in which the hold was not checked. */
    void resume() {
        lastValid = System.nanoTime();
    }

    /** Whether the hold ended, or has been in doubt for too long. */
    boolean isLost() {
        if (hold.isValid()) {
            lastValid = System.nanoTime();
            return false;
        }
        return lost.getCount() == 0 || System.nanoTime() - lastValid > LONGEST_DOUBT.toNanos();
    }
}
