package dev.holdfast.spi;

/**
 * A fence where the locks of a URL are kept, for programs that have a token and no connection of their own, such as a shell
 * script. It does not detect a program that is paused between the check and the guarded action. Check data in a
 * database in its own transaction instead.
 *
 * <pre>{@code
 * try (StoreFence fence = provider.openFence(url, Optional.empty())) {
 *     fence.check("report", token);       // StaleTokenException once a later hold was here
 * }
 * }</pre>
 */
public interface StoreFence extends AutoCloseable {
    /**
     * Admits a token that is at least as high as every token admitted before for the same resource.
     *
     * @param resource what is guarded; usually the name of the lock
     * @param token not negative
     * @throws dev.holdfast.StaleTokenException if a higher one was admitted before
     * @throws dev.holdfast.HoldfastException if the store does not answer or refuses; the token may have been admitted
     */
    void check(String resource, long token);

    @Override
    void close();
}
