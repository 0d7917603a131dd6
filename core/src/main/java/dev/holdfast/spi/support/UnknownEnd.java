package dev.holdfast.spi.support;

import dev.holdfast.StoreUnavailableException;

/** A hold that was to be ended, by two attempts: the first got no answer, and the second found the hold gone. */
public final class UnknownEnd {
    private UnknownEnd() {}

    /**
     * The failure of both attempts together: the first may have ended the hold, or it had ended before.
     *
     * @param name of the lock
     * @param store as messages name it
     * @param ended what was to be done with the hold: {@code broken}, {@code released}
     */
    public static StoreUnavailableException of(String name, String store, String ended) {
        return new StoreUnavailableException("cannot tell whether '" + name + "' on " + store
                + " was still held when it was " + ended + ": the first attempt got no answer, and this hold no longer"
                + " exists; no further action is needed");
    }
}
