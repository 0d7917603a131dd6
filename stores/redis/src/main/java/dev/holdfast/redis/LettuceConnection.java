package dev.holdfast.redis;

import io.lettuce.core.Delegating;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.netty.util.internal.ThreadExecutorMap;
import java.net.SocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A pipeline's view of its Lettuce connection: the thread that sends, and how often it was connected. Thread-safe. */
final class LettuceConnection {
    /** Numbers for all connections of all pipelines, so that a call knows whether it was sent on more than one. */
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private volatile Executor loop;
    /** Changed on the event loop. */
    private volatile long number = NUMBERS.incrementAndGet();

    LettuceConnection(StatefulRedisConnection<byte[], byte[]> connection) {
        this.connection = connection;
        this.loop = connection.getResources().eventExecutorGroup().next(); // one thread, for the order
    }

    /**
     * Names the tasks to run when it is connected again, and when it breaks; both run on its event loop. The second ends
     * before Lettuce begins to connect again.
     */
    void tell(Runnable connected, Runnable disconnected) {
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> reconnected, SocketAddress address) {
                number = NUMBERS.incrementAndGet();
                moveToThisLoop();
                connected.run();
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
                try {
                    disconnected.run();
                } catch (Throwable ignored) { // such as of memory: Lettuce would not connect again
                }
            }
        });
    }

    StatefulRedisConnection<byte[], byte[]> lettuce() {
        return connection;
    }

    /** Another number after each time it was connected. */
    long number() {
        return number;
    }

    /** Called on the connection's event loop, which from now on does the sending. */
    void moveToThisLoop() {
        Executor current = ThreadExecutorMap.currentExecutor();
        if (current != null) {
            loop = current;
        }
    }

    /** The event loop; rejects tasks once the Lettuce client was shut down. */
    Executor loop() {
        return loop;
    }

    /** Whether the owner of the Lettuce client ended it, and with it this connection. */
    boolean isShutDown() {
        return (connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed())
                || connection.getResources().eventExecutorGroup().isShuttingDown();
    }

    /** Ends a connection, and Lettuce makes it again. */
    static void disconnect(@Nullable Object connection) {
        Object writer = connection instanceof RedisChannelHandler<?, ?> handler ? handler.getChannelWriter() : null;
        while (writer instanceof Delegating<?> wrapper) {
            writer = wrapper.getDelegate(); // a lent client's commands may have a timeout
        }
        if (writer instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
        }
    }
}
