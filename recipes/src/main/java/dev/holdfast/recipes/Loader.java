package dev.holdfast.recipes;

/**
 * Makes the value of a key: reads a database, renders a page.
 *
 * @param <V> the values
 * @param <E> what it may throw; unchecked exceptions alone unless the loader throws others
 */
@FunctionalInterface
public interface Loader<V, E extends Exception> {
    /** Makes the value; never null. */
    V load(String key) throws E;
}
