package dev.holdfast.redis;

import dev.holdfast.spi.StoreFactory;
import io.lettuce.core.RedisClient;

/**
 * Locks on a Lettuce client that the application has made: its TLS, log-in, threads and metrics.
 *
 * <pre>{@code
 * RedisClient redis = RedisClient.create("redis://127.0.0.1:6379");
 * try (LockClient client = LockClient.builder(RedisStores.on(redis)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 */
public final class RedisStores {
    private RedisStores() {}

    /**
     * Locks in the server this client was made for. Opens one connection of its own, and a second one when a claim has to
     * wait for the first time; closing the store closes both and leaves the client to its owner.
     *
     * @param client made with a URI; it connects again by itself ({@code autoReconnect}), as Lettuce's clients do unless
     *     told otherwise
     * @return the store to be; {@code build()} opens it, and throws {@link IllegalStateException} if the client was made
     *     without a URI, {@link dev.holdfast.StoreRefusedException} if the server will not do, and {@link
     *     dev.holdfast.StoreUnavailableException} if it does not answer
     * @throws IllegalArgumentException if the client does not connect again by itself
     */
    public static StoreFactory on(RedisClient client) {
        if (!client.getOptions().isAutoReconnect()) {
            throw new IllegalArgumentException("the RedisClient must connect again by itself: leave autoReconnect on");
        }
        RedisErrors errors = new RedisErrors("redis (the application's client)");
        return StoreFactory.named(
                errors.store(),
                context -> RedisStore.open(
                        client,
                        new OfferListener.Lent(client, errors),
                        errors,
                        context.time(),
                        RedisUrl.TIMEOUT,
                        PendingClaims.POLL,
                        false,
                        () -> {}));
    }
}
