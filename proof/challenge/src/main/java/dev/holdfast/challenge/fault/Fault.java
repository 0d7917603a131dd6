package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.workload.Workload;
import java.util.Optional;

/** Something that is done to all locks of a heat at once. It says of each lock whether it is proven to have bitten. */
public interface Fault {
    /** A word for it, as {@code pause-holder}. */
    String id();

    /** What it is, for people to read. */
    String title();

    /** Whether the store is of no use afterwards: it is made once, and then the store is started anew. */
    default boolean usesUp() {
        return false;
    }

    /** Whether it belongs into a quick run. */
    default boolean isQuick() {
        return true;
    }

    /** Whether it takes seconds, as one does that lasts until a lease is over. */
    default boolean waits() {
        return false;
    }

    /** Why this machine cannot make it; empty where it can. */
    default Optional<String> impossible(Heat heat) {
        return Optional.empty();
    }

    /** Whether each lock needs connections of its own, not those of its process. */
    default boolean needsOwnClients() {
        return false;
    }

    /** Whether it can be made in that store. */
    default boolean fits(StoreKind store) {
        return true;
    }

    /** Whether it can be made to that lock. */
    default boolean fits(LockKind lock) {
        return true;
    }

    /** Whether it can be made to that use of a lock. */
    default boolean fits(Workload workload) {
        return true;
    }

    /** Does it once, undoes it, and lets the heat look whether the locks can be had again. */
    void bite(Heat heat);
}
