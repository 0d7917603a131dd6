package dev.holdfast.redis;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.PatientWait;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Receives the offers of one server: one subscription to the client's own channel, on a connection of its own. It is
 * opened when a claim has to wait for the first time, and kept. Lettuce renews it after a lost connection; then all
 * waiting claims ask again, since an offer may have been missed. Thread-safe.
 */
final class OfferListener implements Offers {
    /** The receiver of messages. */
    interface Listener {
        /** A claim was offered its lock. */
        void offered(String claimId);

        /** Other clients wait for the lock of a watched grant. */
        void wanted(String claimId);

        /** The lock of a watched grant was broken. */
        void broken(String claimId);

        /** The subscription is back: offers may have been missed. */
        void subscribedAgain();
    }

    /** Opens a connection, without blocking its caller. */
    @FunctionalInterface
    interface Connector {
        CompletionStage<StatefulRedisPubSubConnection<String, String>> connect();

        /** The Lettuce client was shut down: an attempt under way comes to nothing. */
        default void giveUp() {}
    }

    /**
     * Connects through a client whose URI only its owner knows: Lettuce then blocks until it is connected, and for ever
     * if the owner shuts the client down meanwhile. So a separate thread does this: on a thread of Lettuce it would
     * keep the shutdown from ending.
     */
    static final class Lent implements Connector {
        private final RedisClient client;
        private final RedisErrors errors;
        private volatile @Nullable Thread connecting;

        Lent(RedisClient client, RedisErrors errors) {
            this.client = client;
            this.errors = errors;
        }

        /**
         * The application may have changed the options since. Without autoReconnect, a lost subscription stays lost.
         */
        @Override
        public CompletionStage<StatefulRedisPubSubConnection<String, String>> connect() {
            if (!client.getOptions().isAutoReconnect()) {
                return CompletableFuture.failedFuture(errors.refused(
                        "cannot notify waiters: autoReconnect is off in its RedisClient, so a lost subscription would not"
                                + " come back; switch autoReconnect on",
                        null));
            }
            CompletableFuture<StatefulRedisPubSubConnection<String, String>> made = new CompletableFuture<>();
            Thread thread = new Thread(() -> connect(made), "holdfast-redis-subscribe");
            thread.setDaemon(true);
            connecting = thread;
            thread.start();
            return made;
        }

        private void connect(CompletableFuture<StatefulRedisPubSubConnection<String, String>> made) {
            try {
                made.complete(client.connectPubSub(StringCodec.UTF8));
            } catch (Throwable e) { // an Error, too, is an answer
                made.completeExceptionally(e);
            } finally {
                connecting = null;
            }
        }

        @Override
        public void giveUp() {
            Thread thread = connecting;
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    private static final String WANTED = "!";
    private static final String BROKEN = "-";
    private static final Duration CONNECT_GRACE = Duration.ofSeconds(1);
    /** However many claims wait: a server that has too many clients must not be asked without end. */
    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(400);

    private record Failed(Throwable why, long at) {}

    private final Connector connector;
    private final String channel;
    private final Listener listener;
    private final TimeSource time;
    private final AtomicReference<@Nullable CompletableFuture<Void>> opening = new AtomicReference<>();
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private volatile @Nullable Failed lastFailure;
    private volatile boolean subscribed;
    private volatile boolean wasSubscribed;
    private volatile boolean closed;

    OfferListener(Connector connector, String channel, Listener listener, TimeSource time) {
        this.connector = connector;
        this.channel = channel;
        this.listener = listener;
        this.time = time;
    }

    @Override
    public String channel() {
        return channel;
    }

    @Override
    public boolean isSubscribed(String lock) {
        return subscribed;
    }

    @Override
    public boolean wasSubscribed(String lock) {
        return wasSubscribed;
    }

    /** Subscribes, once. */
    @Override
    public CompletionStage<Void> subscribe(String lock) {
        Failed recent = lastFailure;
        if (recent != null && time.nanoTime() - recent.at < BETWEEN_ATTEMPTS.toNanos()) {
            return CompletableFuture.failedFuture(recent.why);
        }
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> before = opening.compareAndExchange(null, mine);
        if (before != null) {
            return before;
        }
        if (closed) {
            failed(mine, new IllegalStateException("closed"));
            return mine;
        }
        try {
            connector.connect().whenComplete((made, failure) -> {
                if (failure != null) {
                    failed(mine, failure);
                } else {
                    subscribe(made, mine);
                }
            });
        } catch (Throwable e) { // shut down, or no thread to be had: the waiter tries again
            failed(mine, e);
        }
        return mine;
    }

    private void subscribe(StatefulRedisPubSubConnection<String, String> made, CompletableFuture<Void> done) {
        connection = made;
        if (closed) {
            made.closeAsync().whenComplete((nothing, failure) -> failed(done, new IllegalStateException("closed")));
            return;
        }
        made.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
                subscribed = false;
            }
        });
        made.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String text) {
                if (text.startsWith(WANTED)) {
                    listener.wanted(text.substring(WANTED.length()));
                } else if (text.startsWith(BROKEN)) {
                    listener.broken(text.substring(BROKEN.length()));
                } else {
                    listener.offered(text);
                }
            }

            @Override
            public void subscribed(String to, long count) {
                subscribed = true;
                wasSubscribed = true;
                if (!done.complete(null)) {
                    listener.subscribedAgain();
                }
            }
        });
        made.async().subscribe(RedisStore.CHANNELS + channel).whenComplete((nothing, failure) -> {
            if (failure != null) {
                made.closeAsync();
                failed(done, failure);
            }
        });
    }

    private void failed(CompletableFuture<Void> done, Throwable wrapped) {
        Throwable why = RedisErrors.unwrapped(wrapped);
        lastFailure = new Failed(why, time.nanoTime());
        opening.set(null);
        done.completeExceptionally(why);
    }

    @Override
    public void reconnect() {
        LettuceConnection.disconnect(connection);
    }

    @Override
    public void giveUp() {
        connector.giveUp();
    }

    /** The server no longer keeps the locks; does not block. */
    void retire() {
        closed = true;
        StatefulRedisPubSubConnection<String, String> open = connection;
        if (open != null) {
            subscribed = false;
            open.closeAsync();
        }
    }

    /** Waits up to a second for an attempt to connect: later the threads that would end its connection may be gone. */
    @Override
    public void close(boolean shutDown) {
        closed = true;
        CompletableFuture<Void> attempt = opening.get();
        if (shutDown) {
            connector.giveUp();
        } else if (connection == null && attempt != null) {
            PatientWait.within(attempt, CONNECT_GRACE); // if it fails there is no connection to end
        }
        StatefulRedisPubSubConnection<String, String> open = connection;
        if (open != null) {
            open.close();
        }
    }
}
