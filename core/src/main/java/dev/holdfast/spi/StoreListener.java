package dev.holdfast.spi;

/**
 * What a store learns by itself, without being asked: sessions that end, connections that break. Both calls are short
 * and never block.
 */
public interface StoreListener {

    /** The grant is gone for good: its session ended, its owning connection dropped, its key was deleted. */
    void lost(Grant grant);

    /** The grant may be gone: the engine takes it for invalid and asks at once, by a renewal. */
    void suspect(Grant grant);
}
