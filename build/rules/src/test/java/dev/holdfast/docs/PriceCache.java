package dev.holdfast.docs;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Prices as they were read, and for each the last writer who cleared it. */
final class PriceCache {
    private record Entry(Optional<Integer> amount, long writer) {}

    private final Map<Integer, Entry> entries = new ConcurrentHashMap<>();

    Optional<Integer> get(int item) {
        return Optional.ofNullable(entries.get(item)).flatMap(Entry::amount);
    }

    // @formatter:off
    // snippet fencedCache
    void clear(int item, long writer) {
        entries.merge(item, new Entry(Optional.empty(), writer),
                (now, cleared) -> now.writer() > writer ? now : cleared);
    }

    void fill(int item, int amount, long reader) {
        entries.merge(item, new Entry(Optional.of(amount), 0),
                (now, filled) -> now.writer() > reader ? now : new Entry(filled.amount(), now.writer()));
    }
    // end
    // @formatter:on

    /** As a cache does that knows nothing of tokens. */
    void fillWhoever(int item, int amount) {
        fill(item, amount, Long.MAX_VALUE);
    }
}
