package dev.holdfast.memcached;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Failures, with messages that say what to do next.
 *
 * @param store the store, as messages name it
 */
record Errors(String store) {

    /** The connection broke before the answer: nobody knows whether the server has carried the command out. */
    static final class ConnectionLostException extends HoldfastException {
        private static final long serialVersionUID = 1L;

        ConnectionLostException() {
            super("the connection broke before the answer");
        }
    }

    /** A server answered with an error. */
    HoldfastException said(String answer) {
        if (answer.contains("too large")) {
            return refused("takes no items as large as a lock's (" + answer + "): raise its option -I", null);
        }
        if (answer.contains("out of memory")) {
            return unavailable("has no memory left (" + answer + "): raise its option -m, or let it evict", null);
        }
        return refused("answered '" + answer + "': is it Memcached, and does it allow add, gets and cas?", null);
    }

    StoreRefusedException foreign(String key) {
        return refused(
                "has a value under the key '" + key + "' that this Holdfast cannot read: delete it if another program"
                        + " has written it, or upgrade if a newer Holdfast has",
                null);
    }

    /** An Error, or what a timer or a listener has thrown: whoever waits is answered by it. */
    HoldfastException broken(Throwable why) {
        return why instanceof HoldfastException known ? known : unavailable("could not be asked: " + why, why);
    }

    StoreRefusedException refused(String why, @Nullable Throwable cause) {
        return new StoreRefusedException(store + " " + why, cause);
    }

    StoreUnavailableException unavailable(String why, @Nullable Throwable cause) {
        return new StoreUnavailableException(store + " " + why, cause);
    }

    /** A failure as it was before futures wrapped it. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? unwrapped(cause) : failure;
    }
}
