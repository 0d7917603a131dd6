package dev.holdfast.spi;

import java.util.Optional;

/**
 * What a client gives the store that is opened for it.
 *
 * @param time the client's time: grants and renewals are stamped by it
 * @param password the secret to log in with where the URL names none of its own; a store without log-ins has no use for
 *     it. Given beside the URL so that no store has to cut it out of one, and none has to be encoded into it
 */
public record StoreContext(TimeSource time, Optional<String> password) {

    /** Without a password beside the URL. */
    public StoreContext(TimeSource time) {
        this(time, Optional.empty());
    }

    /** Tells whether there is a password, never which. */
    @Override
    public String toString() {
        return "StoreContext[time=" + time + ", password=" + (password.isPresent() ? "(hidden)" : "none") + "]";
    }
}
