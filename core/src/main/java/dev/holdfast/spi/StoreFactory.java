package dev.holdfast.spi;

/**
 * Makes the store of a client that is being built, from what the application has already: a pool, a Redis or a Curator
 * client. So the store goes by the client's time and settings.
 *
 * <pre>{@code
 * StoreFactory mine = context -> new MyStore(servers, context.time());
 * try (LockClient client = LockClient.builder(mine).build()) { ... }
 * }</pre>
 */
@FunctionalInterface
public interface StoreFactory {

    /**
     * Opens a store. The store is the client's alone and is closed by it; what the application lent stays open.
     *
     * @param context what the client lends: its time, and settings that not every store has a use for
     * @throws dev.holdfast.HoldfastException if the store cannot be reached or refuses
     */
    Store open(StoreContext context);
}
