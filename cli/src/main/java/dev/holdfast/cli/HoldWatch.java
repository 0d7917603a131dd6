package dev.holdfast.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

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

    private final Held hold;
    private final CountDownLatch lost = new CountDownLatch(1);
    private long lastValid = System.nanoTime();

    HoldWatch(Held hold) {
        this.hold = hold;
        hold.onLost(lost::countDown);
    }

    /** Waits until the command ends by itself, or the hold does; true if the hold did. */
    boolean untilEndOf(ChildCommand child) throws InterruptedException {
        while (!child.awaitEnd(LOOK)) {
            if (isLost()) {
                return true;
            }
        }
        return false;
    }

    private boolean isLost() {
        if (hold.isValid()) {
            lastValid = System.nanoTime();
            return false;
        }
        return lost.getCount() == 0 || System.nanoTime() - lastValid > LONGEST_DOUBT.toNanos();
    }
}
