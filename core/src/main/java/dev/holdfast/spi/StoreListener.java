package dev.holdfast.spi;

/**
 * What a store learns by itself, without being asked: sessions that end, connections that break. All calls are short
 * and never block.
 */
public interface StoreListener {

    /** The grant is gone for good: its session ended, its owning connection dropped, its key was deleted. */
    void lost(Grant grant);

    /** The grant may be gone: the engine takes it for invalid and asks at once, by a renewal. */
    void suspect(Grant grant);

    /**
     * The store cannot be reached, or does not answer, while claims wait: they are kept and tried again. May be told at
     * every try; people hear of it once, until {@link #reachable}.
     *
     * @param name one of the names waited for, as in the claim
     * @param why what failed
     */
    default void unreachable(String name, Throwable why) {}

    /** The store answers again. May be told at every answer. */
    default void reachable() {}
}
