package dev.holdfast.spi;

/**
 * Receives what a store learns by itself, without a request: sessions that end, connections that break. All calls are
 * short and never block.
 */
public interface StoreListener {

    /** The grant is gone for good: its session ended, its owning connection dropped, its key was deleted. */
    void lost(Grant grant);

    /** The grant may be gone: the engine takes it for invalid and asks at once, by a renewal. */
    void suspect(Grant grant);

    /**
     * The claim of another client waits for the name of a grant that is {@linkplain Store#watch watched}. Reported once or
     * more for each grant, after the first such claim began to wait; if the message is lost, the next renewal reports
     * it. May come after the claim has left.
     */
    default void wanted(Grant grant) {}

    /**
     * The store cannot be reached, or does not answer, while claims wait: they are kept and tried again. Reported as soon
     * as the store notices, such as when a connection breaks, and at the latest when a query about a waiting claim is
     * not answered in time. May be reported at every try; it is reported to people once, until {@link #reachable}. The
     * engine takes each request that fails with a {@link dev.holdfast.StoreUnavailableException} for the same.
     *
     * @param name one of the names waited for, as in the claim
     * @param why what failed
     */
    default void unreachable(String name, Throwable why) {}

    /**
     * The store answers again. May be reported at every answer to a waiting claim, and is reported at the first one after
     * an {@link #unreachable}, whichever claim was the reason of that. The engine takes each answer that needs the server
     * for the same.
     */
    default void reachable() {}

    /**
     * The {@linkplain Store#part part} of the store that keeps this name answers again. May be reported at every answer.
     *
     * @param name as in the claim
     */
    default void reachable(String name) {
        reachable();
    }
}
