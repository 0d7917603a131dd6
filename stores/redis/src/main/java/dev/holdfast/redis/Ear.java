package dev.holdfast.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * How a client hears offers: one subscription to a channel of its own, on a connection of its own, opened when a claim
 * has to wait for the first time and kept. Lettuce renews it after a lost connection; then everybody who waits asks
 * again, since an offer may have been missed. Thread-safe.
 */
final class Ear implements AutoCloseable {
    /** Who hears. */
    interface Listener {
        /** A claim was offered its lock. */
        void offered(String claimId);

        /** The subscription stands again: offers may have been missed. */
        void hearingAgain();
    }

    private final RedisClient client;
    private final String channel;
    private final Listener listener;
    private final AtomicReference<@Nullable CompletableFuture<Void>> opening = new AtomicReference<>();
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private volatile boolean hearing;
    private volatile boolean closed;

    Ear(RedisClient client, String channel, Listener listener) {
        this.client = client;
        this.channel = channel;
        this.listener = listener;
    }

    String channel() {
        return channel;
    }

    /** Whether it was opened: offers are heard, now or as soon as the connection is back. */
    boolean isOpen() {
        return hearing;
    }

    /** Opens it, once; completes when offers are heard. After a failure the next call tries again. */
    CompletionStage<Void> open() {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> before = opening.compareAndExchange(null, mine);
        if (before != null) {
            return before;
        }
        try {
            client.getResources().eventExecutorGroup().execute(() -> connect(mine)); // it blocks, and so not here
        } catch (RejectedExecutionException shutDown) {
            failed(mine, shutDown);
        }
        return mine;
    }

    private void connect(CompletableFuture<Void> done) {
        try {
            StatefulRedisPubSubConnection<String, String> made = client.connectPubSub(StringCodec.UTF8);
            connection = made;
            if (closed) {
                made.close();
            }
            made.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String from, String claimId) {
                    listener.offered(claimId);
                }

                @Override
                public void subscribed(String to, long count) {
                    hearing = true;
                    if (!done.complete(null)) {
                        listener.hearingAgain();
                    }
                }
            });
            made.async().subscribe(channel).whenComplete((nothing, failure) -> {
                if (failure != null) {
                    made.closeAsync();
                    failed(done, failure);
                }
            });
        } catch (RuntimeException e) {
            failed(done, e);
        }
    }

    private void failed(CompletableFuture<Void> done, Throwable why) {
        opening.set(null);
        done.completeExceptionally(RedisErrors.unwrapped(why));
    }

    @Override
    public void close() {
        closed = true;
        StatefulRedisPubSubConnection<String, String> open = connection;
        if (open != null) {
            open.close();
        }
    }
}
