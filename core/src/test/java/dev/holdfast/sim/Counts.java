package dev.holdfast.sim;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** How often each thing happened. */
final class Counts {
    private final Map<Happening, Long> counts = new EnumMap<>(Happening.class);

    void add(Happening happening) {
        counts.merge(happening, 1L, Long::sum);
    }

    void addAll(Counts other) {
        other.counts.forEach((happening, count) -> counts.merge(happening, count, Long::sum));
    }

    boolean has(Happening happening) {
        return counts.containsKey(happening);
    }

    Set<Happening> never() {
        Set<Happening> never = EnumSet.allOf(Happening.class);
        never.removeAll(counts.keySet());
        return never;
    }

    @Override
    public String toString() {
        StringBuilder table = new StringBuilder();
        for (Happening happening : Happening.values()) {
            String name = happening.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            table.append(String.format(Locale.ROOT, "  %-28s %,14d%n", name, counts.getOrDefault(happening, 0L)));
        }
        return table.toString();
    }
}
