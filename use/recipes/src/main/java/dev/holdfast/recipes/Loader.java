package dev.holdfast.recipes;

/**
 * Loads the value of a key: reads a database, renders a page.
 *
 * @param <V> the values
 * @param <E> the checked exception of the loader; {@code RuntimeException} if it has none
 */
@FunctionalInterface
public interface Loader<V, E extends Exception> {
    /** Loads the value; never null. */
    V load(String key) throws E;
}
