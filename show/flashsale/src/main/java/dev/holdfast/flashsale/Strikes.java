package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The faults that have struck since the sale was opened; one that is armed and meets no order is not among them.
 * Thread-safe.
 */
final class Strikes {
    private final AtomicInteger paused = new AtomicInteger();
    private final AtomicInteger killed = new AtomicInteger();
    private final AtomicInteger expired = new AtomicInteger();
    private volatile @Nullable Death death;

    /**
     * A server that was killed.
     *
     * @param at milliseconds by the clock of this machine
     */
    record Death(int server, long at) {}

    /**
     * Their numbers.
     *
     * @param paused how often a server was stopped past its lease
     * @param killed how often one was killed
     * @param cut how often the store was cut off
     * @param expired how often the lock was taken away
     */
    record Figures(int paused, int killed, int cut, int expired) {
        /** How often that fault has struck. */
        int of(Faults.Fault fault) {
            return switch (fault) {
                case PAUSE -> paused;
                case KILL -> killed;
                case CUT -> cut;
            };
        }
    }

    void restart() {
        paused.set(0);
        killed.set(0);
        expired.set(0);
        death = null;
    }

    /** Counts what happened to a server. */
    void count(int server, Faults.Fault fault) {
        if (fault == Faults.Fault.KILL) {
            death = new Death(server, System.currentTimeMillis());
        }
        (fault == Faults.Fault.PAUSE ? paused : killed).incrementAndGet();
    }

    /** The last server that was killed. */
    Optional<Death> death() {
        return Optional.ofNullable(death);
    }

    void expire() {
        expired.incrementAndGet();
    }

    Figures figures(Outage.Figures outage) {
        return new Figures(paused.get(), killed.get(), outage.times(), expired.get());
    }
}
