package dev.holdfast.recipes;

import java.util.Objects;

/**
 * A cached value.
 *
 * @param value the value, never null
 * @param stale whether it is due to be rebuilt; readers may still be served with it
 * @param <V> the values
 */
public record Cached<V>(V value, boolean stale) {
    /** A value. */
    public Cached {
        Objects.requireNonNull(value, "a cached value is never null; for a key without one the cache returns empty");
    }

    /** A value that need not be rebuilt. */
    public static <V> Cached<V> fresh(V value) {
        return new Cached<>(value, false);
    }
}
