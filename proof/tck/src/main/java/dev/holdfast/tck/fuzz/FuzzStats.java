package dev.holdfast.tck.fuzz;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** What was done, and what was reached by it. Thread-safe. */
final class FuzzStats {
    final LongAdder histories = new LongAdder();
    final LongAdder operations = new LongAdder();
    final LongAdder answers = new LongAdder();
    final LongAdder planned = new LongAdder();
    final LongAdder bitten = new LongAdder();
    final LongAdder unjudged = new LongAdder();
    final Map<String, AtomicLong> reached = new ConcurrentSkipListMap<>();
    private final LongAccumulator mostStates = new LongAccumulator(Long::max, 0);

    void reach(String what, boolean reached) {
        this.reached.computeIfAbsent(what, absent -> new AtomicLong()).addAndGet(reached ? 1 : 0);
    }

    /** Whether it happened at least once. */
    boolean hasReached(String what) {
        AtomicLong count = reached.get(what);
        return count != null && count.get() > 0;
    }

    void states(int count) {
        mostStates.accumulate(count);
    }

    @Override
    public String toString() {
        return histories + " histories, " + operations + " operations, " + answers + " answers, " + bitten + " of "
                + planned + " faults bit, at most " + mostStates + " states at once, " + unjudged
                + " too wide to judge; reached: " + reached;
    }
}
