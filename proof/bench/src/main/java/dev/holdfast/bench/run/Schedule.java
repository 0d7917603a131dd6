package dev.holdfast.bench.run;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * When the turns of a thread are meant to begin.
 *
 * <p>With a pace the loop is open. The starts are fixed before anything is measured, each a hold and a pause after the
 * one before, however long the lock lets the thread wait:
 *
 * <pre>
 * intended   |--hold--|---pause---|--hold--|-pause-|--hold--|
 * actual     |~wait~|--hold--|----|~~~~~wait~~~~~~|--hold--||~wait~|--hold--|
 *            ^                    ^                        ^^
 *            start                start                    intended, and begun: the wait counts from the first
 * </pre>
 *
 * A thread that is late begins its next turn at once, and what it was late counts as waiting. So no wait hides those that
 * would have come meanwhile (coordinated omission). Without a pace a turn begins when the one before it has ended.
 */
public final class Schedule {
    private final Pace pace;
    private final long holdNanos;
    private final RandomGenerator random;
    private long next;

    /** The first turn begins somewhere within the mean pause: the threads do not begin together. */
    Schedule(long from, Pace pace, long holdNanos, RandomGenerator random) {
        this.pace = pace;
        this.holdNanos = holdNanos;
        this.random = random;
        this.next = from + (pace.isNone() ? 0 : random.nextLong(pace.mean().toNanos() + holdNanos));
    }

    /** When the next turn is meant to begin, by {@link System#nanoTime}. */
    long next() {
        if (pace.isNone()) {
            return System.nanoTime();
        }
        long intended = next;
        next += holdNanos + pace.nextNanos(random);
        return intended;
    }

    /** Returns after that time, and not before, as {@link #sleepUntil}. */
    public static void pause(Duration time) {
        sleepUntil(System.nanoTime() + time.toNanos());
    }

    /**
     * Returns at that time, or at once when it is over. Never before: a thread that a lock has woken may return from its
     * next park at once, and parks again.
     */
    static void sleepUntil(long time) {
        for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
