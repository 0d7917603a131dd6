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
     * The store cannot serve the waiting claim of a name; it keeps the claim and tries again. A store must report this when
     * a connection breaks, when a query about a waiting claim is not answered in time, and when a claim begins to wait
     * during an outage. It may report it at every try; one name of each part is enough. May be called inside
     * {@link Store#claim}.
     *
     * <p>From then on, timed waits that end fail with a {@link dev.holdfast.StoreUnavailableException}, and other waits at
     * the {@linkplain dev.holdfast.LockClientBuilder#outageLimit outage limit}, until a {@link #reachable} or an answer to a
     * claim or renewal. A request that fails with that exception also begins an outage.
     *
     * @param name one of the names waited for, as in the claim
     * @param why what failed
     */
    default void unreachable(String name, Throwable why) {}

    /**
     * Every part of the store can serve waiting claims again. A store must call this, or {@link #reachable(String)} if it
     * has several parts, at the first answer of the server to a waiting claim after an {@link #unreachable}, also if the
     * claim that was the reason of that has left. It may call this at every such answer.
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
