package dev.holdfast.bench.run;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** What one thread of a round has counted so far. For that thread alone. */
final class Meter {
    private final Map<Timing, Histogram> timings = new EnumMap<>(Timing.class);
    private final Map<Count, Long> counts = new EnumMap<>(Count.class);
    private long turns;

    Meter() {
        for (Timing timing : Timing.values()) {
            timings.put(timing, Tally.histogram());
        }
        for (Count what : Count.values()) {
            counts.put(what, 0L);
        }
    }

    void time(Timing timing, long nanos) {
        Histogram histogram = timings.get(timing);
        if (histogram != null) {
            histogram.recordValue(Math.max(0, nanos));
        }
    }

    void count(Count what) {
        counts.merge(what, 1L, Long::sum);
    }

    /** Counts a turn whose lock, or refusal, came within the round. */
    void turn() {
        turns++;
    }

    Tally tally() {
        return new Tally(List.of(turns), counts, timings);
    }
}
