package dev.holdfast;

import java.time.Duration;
import java.util.Optional;

/**
 * The state of one lock as the store knows it at one moment; it may be out of date when it arrives.
 *
 * <pre>{@code
 * lock.status().grant().ifPresent(held -> System.out.println(held.holder() + " for " + held.heldFor()));
 * }</pre>
 *
 * @param name the lock
 * @param grant the holder, if there is one; one of them where readers or permits are held together
 * @param waiting how many clients wait for it in the store: one per client, whatever the number of its threads
 */
public record LockStatus(String name, Optional<Held> grant, int waiting) {

    /**
     * The present grant.
     *
     * @param mode how it is held
     * @param token the lowest token of the grant: a hold that was handed over inside its client has a higher one, below
     *     this + 1024
     * @param holder the client that holds it
     * @param heldFor how long it has been held, by the store's clock
     * @param leaseLeft how much of the lease is left, by the store's clock
     */
    public record Held(LockMode mode, long token, Holder holder, Duration heldFor, Duration leaseLeft) {}

    /** A lock that is not held. */
    public static LockStatus free(String name, int waiting) {
        return new LockStatus(name, Optional.empty(), waiting);
    }

    /**
     * A lock whose record in the store is not as Holdfast writes it, or is a newer version's: it counts as held, by
     * an unknown holder, under the token 0. So one such record does not hide the others from a list.
     */
    public static LockStatus unreadable(String name) {
        Holder unknown = new Holder("unknown", 0, "", "its record cannot be read");
        return new LockStatus(
                name, Optional.of(new Held(LockMode.EXCLUSIVE, 0, unknown, Duration.ZERO, Duration.ZERO)), 0);
    }

    /** Whether it is held. */
    public boolean isHeld() {
        return grant.isPresent();
    }

    /** The same status under another name. */
    public LockStatus withName(String newName) {
        return new LockStatus(newName, grant, waiting);
    }
}
