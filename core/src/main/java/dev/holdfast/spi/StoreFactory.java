package dev.holdfast.spi;

/**
 * Makes the store of a client that is being built, from what the application has already: a pool, a Redis or a Curator
 * client. So the store uses the client's time and settings.
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

    /**
     * Names the store before it is open, for the messages of a client that connects lazily, and refuses now what could
     * never be opened. Asks no server and creates nothing.
     *
     * @param context as for {@link #open}
     * @return a short name without secrets, as {@link Store#description()} has it; see {@link #named}
     * @throws IllegalArgumentException if no store can be opened so; the message says what to change
     */
    default String describe(StoreContext context) {
        return "the store";
    }

    /**
     * A factory with a {@linkplain #describe name}.
     *
     * @param description without secrets
     */
    static StoreFactory named(String description, StoreFactory factory) {
        return new StoreFactory() {
            @Override
            public Store open(StoreContext context) {
                return factory.open(context);
            }

            @Override
            public String describe(StoreContext context) {
                return description;
            }
        };
    }
}
