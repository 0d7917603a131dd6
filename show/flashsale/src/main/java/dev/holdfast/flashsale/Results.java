package dev.holdfast.flashsale;

import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Tally;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The guards that were run since the sale was started, side by side: for each guard, and each kind of fault that it met,
 * its last run. Thread-safe.
 */
final class Results {
    private final Map<Kind, Result> last = new LinkedHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();

    private record Kind(String guard, boolean paused, boolean killed, boolean cut, boolean expired) {
        static Kind of(String guard, Strikes.Figures struck) {
            return new Kind(guard, struck.paused() > 0, struck.killed() > 0, struck.cut() > 0, struck.expired() > 0);
        }
    }

    /**
     * How a guard fared.
     *
     * @param withinMillis the time in which the buyers came: if it is not 0, it and not the guard decides the orders by
     *     second
     */
    record Result(
            String guard,
            Strikes.Figures struck,
            int stock,
            int gapMillis,
            int withinMillis,
            long sold,
            long oversold,
            Buyers.Figures buyers) {}

    /** Adds a run, or puts it in the place of an earlier one. */
    void add(Sale sale, int withinMillis, Tally tally, Strikes.Figures struck, Buyers.Figures buyers) {
        lock.lock();
        try {
            last.put(
                    Kind.of(sale.guard(), struck),
                    new Result(
                            sale.guard(),
                            struck,
                            sale.stock(),
                            sale.gapMillis(),
                            withinMillis,
                            tally.sold(),
                            tally.oversold(),
                            buyers));
        } finally {
            lock.unlock();
        }
    }

    /** All of them, in the order of their first runs. */
    List<Result> all() {
        lock.lock();
        try {
            return List.copyOf(last.values());
        } finally {
            lock.unlock();
        }
    }
}
