package dev.holdfast.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * The settings that a client gives the store that is opened for it.
 *
 * @param time the client's time: grants and renewals are stamped by it
 * @param password the secret to log in with where the URL names none of its own; a store without log-ins has no use for
 *     it. Given beside the URL so that no store has to cut it out of one, and none has to be encoded into it
 * @param session how long the store should keep the grants of a client that has died, where it keeps them by a session
 *     and the URL does not say how long; a store of leases has no use for it
 */
public record StoreContext(TimeSource time, Optional<String> password, Optional<Duration> session) {

    /** Without a password beside the URL, and with the store's own session. */
    public StoreContext(TimeSource time) {
        this(time, Optional.empty());
    }

    /** With the store's own session. */
    public StoreContext(TimeSource time, Optional<String> password) {
        this(time, password, Optional.empty());
    }

    /** Shows whether there is a password, never which. */
    @Override
    public String toString() {
        return "StoreContext[time=" + time + ", password=" + (password.isPresent() ? "(hidden)" : "none") + ", session="
                + session.map(Duration::toString).orElse("the store's own") + "]";
    }
}
