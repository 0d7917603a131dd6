package dev.holdfast.spi;

import dev.holdfast.UnsupportedByStoreException;
import java.util.Optional;
import java.util.Set;

/**
 * Opens the stores of some URL schemes. Found by {@link java.util.ServiceLoader}.
 *
 * <p>An implementation has a public constructor without arguments, and is listed by its full name in the file
 * {@code META-INF/services/dev.holdfast.spi.StoreProvider} of its jar, or behind {@code provides} of its module.
 */
public interface StoreProvider {

    /** The schemes it knows, in lower case without the colon: {@code sqlite}, {@code redis}. */
    Set<String> schemes();

    /**
     * Opens a store. The store is the client's alone and is closed by it.
     *
     * @param url the URL as the caller gave it; it may hold secrets and never appears in a message
     * @param context what the client lends: its time, and a password for a URL that has none
     * @throws IllegalArgumentException if the URL is malformed; the message says how a good one is written
     * @throws dev.holdfast.HoldfastException if the store cannot be reached or refuses
     */
    Store open(String url, StoreContext context);

    /**
     * Names the store of a URL before it is open, for the messages of a client that connects lazily, and refuses a URL that
     * could never be opened. Asks no server and creates nothing.
     *
     * @param url as for {@link #open}
     * @param context as for {@link #open}
     * @return a short name without secrets, as {@link Store#description()} has it; unless a provider knows better, the
     *     scheme alone
     * @throws IllegalArgumentException if the URL is malformed; the message says how a good one is written
     */
    default String describe(String url, StoreContext context) {
        return url.substring(0, url.indexOf(':') + 1) + "…";
    }

    /**
     * Opens a fence in the store of a URL. The caller closes the fence; what it has admitted stays for ever.
     *
     * @param url as for {@link #open}
     * @param password for a URL that has none
     * @throws IllegalArgumentException if the URL is malformed
     * @throws UnsupportedByStoreException if this kind of store keeps no fences
     * @throws dev.holdfast.HoldfastException if the store cannot be reached or refuses
     */
    default StoreFence openFence(String url, Optional<String> password) {
        throw new UnsupportedByStoreException(
                "this kind of store keeps no fences; use a sqlite:, jdbc:, redis: or zk: store");
    }
}
