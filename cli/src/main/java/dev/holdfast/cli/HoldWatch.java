package dev.holdfast.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Watches a hold while the command runs.
 *
 * <p>A loss is told by the library; besides, the hold is asked all the time, so that a process that was stopped past its
 * lease sees what it missed with the first thing it does. A hold that is not valid and not lost is in doubt (the machine
 * slept, the connection broke): the library asks the store at once, and a job of hours is not ended for a hiccup, unless
 * the doubt lasts.
 */
final class HoldWatch {
    private static final Duration LOOK = Duration.ofMillis(100);
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
        while (!child.awaitEnd(LOOK)) {
            if (isLost()) {
                return End.LOST;
            }
            if (System.nanoTime() - began >= mayHoldNanos) {
                return End.OVERDUE;
            }
        }
        return End.COMMAND;
    }

    /** Begins to count a doubt anew, after a time in which nobody asked. */
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
