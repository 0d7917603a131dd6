package dev.holdfast.recipes;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A cache that compares tokens, and forgets none; shared by all clients of a test. */
final class FencedCache implements ClearableCache<String> {
    private record Entry(Optional<Cached<String>> value, long token) {}

    private final Map<String, Entry> entries = new ConcurrentHashMap<>();

    @Override
    public Optional<Cached<String>> get(String key) {
        return Optional.ofNullable(entries.get(key)).flatMap(Entry::value);
    }

    @Override
    public void put(String key, String value, long token) {
        set(key, Optional.of(Cached.fresh(value)), token);
    }

    @Override
    public void clear(String key, long token) {
        set(key, Optional.empty(), token);
    }

    /** As time does: the value is due to be rebuilt. */
    void makeStale(String key) {
        entries.computeIfPresent(
                key,
                (name, entry) -> new Entry(entry.value.map(cached -> new Cached<>(cached.value(), true)), entry.token));
    }

    /** As time does: the value is gone, the highest token is not. */
    void expire(String key) {
        entries.computeIfPresent(key, (name, entry) -> new Entry(Optional.empty(), entry.token));
    }

    private void set(String key, Optional<Cached<String>> value, long token) {
        entries.merge(key, new Entry(value, token), (now, set) -> now.token > token ? now : set);
    }
}
