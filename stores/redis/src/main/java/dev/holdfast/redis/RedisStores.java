package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.RedisClient;
import io.netty.util.Timeout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

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
     * @throws IllegalArgumentException if the client does not connect again by itself
     * @throws IllegalStateException if the client was made without a URI
     * @throws dev.holdfast.StoreRefusedException if the server will not do
     * @throws dev.holdfast.StoreUnavailableException if it does not answer
     */
    public static Store on(RedisClient client) {
        if (!client.getOptions().isAutoReconnect()) {
            throw new IllegalArgumentException("the RedisClient must connect again by itself: leave autoReconnect on");
        }
        RedisErrors errors = new RedisErrors("redis (the application's client)");
        return RedisStore.open(
                client,
                new OfferListener.Lent(client, errors),
                errors,
                new ClientTime(client),
                RedisUrl.TIMEOUT,
                PendingClaims.POLL,
                false,
                () -> {});
    }

    /** The client's own timer, so that there is no thread more. */
    private record ClientTime(RedisClient client) implements TimeSource {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        /** Not needed here: Redis keeps time itself. */
        @Override
        public long wallMillis() {
            throw new UnsupportedOperationException("a Redis store asks no wall clock");
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            Timeout timeout =
                    client.getResources().timer().newTimeout(due -> task.run(), delay.toNanos(), TimeUnit.NANOSECONDS);
            return timeout::cancel;
        }
    }
}
