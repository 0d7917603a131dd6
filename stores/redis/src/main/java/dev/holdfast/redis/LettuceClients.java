package dev.holdfast.redis;

import dev.holdfast.spi.support.PatientWait;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The Lettuce client of a store that was opened by a URL: few threads, quick to connect again, and with probes that
 * find a connection whose other end is gone.
 */
record LettuceClients(RedisClient client, ClientResources resources, EventLoopGroupProvider loops) {
    /** One thread for both connections: a received offer is answered without another thread. */
    private static final int IO_THREADS = 1;

    private static final int COMPUTATION_THREADS = 2;
    private static final Duration PROBE = Duration.ofSeconds(5);
    private static final int PROBES = 3;
    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);
    private static final long SHUTDOWN_MILLIS = 2_000;
    private static final Duration LONGEST_SHUTDOWN = Duration.ofSeconds(10);

    static LettuceClients of(RedisUrl url) {
        // Not ioThreadPoolSize, which is never less than two.
        EventLoopGroupProvider loops = new DefaultEventLoopGroupProvider(IO_THREADS);
        ClientResources resources = DefaultClientResources.builder()
                .eventLoopGroupProvider(loops)
                .computationThreadPoolSize(COMPUTATION_THREADS)
                .addressResolverGroup(DefaultAddressResolverGroup.INSTANCE) // as the rest of the JVM does
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .reconnectDelay(
                        Delay.fullJitter(Duration.ofMillis(1), LONGEST_RECONNECT_DELAY, 10, TimeUnit.MILLISECONDS))
                .build();
        RedisClient client = RedisClient.create(resources, url.uri());
        KeepAliveOptions probes = KeepAliveOptions.builder()
                .enable()
                .idle(PROBE)
                .interval(PROBE)
                .count(PROBES)
                .build();
        ClientOptions.Builder options = ClientOptions.builder()
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // ScriptPipeline has its own
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(url.timeout())
                        .keepAlive(probes)
                        .build());
        if (url.cacert() != null) {
            options.sslOptions(SslOptions.builder().trustManager(url.cacert()).build());
        }
        client.setOptions(options.build());
        return new LettuceClients(client, resources, loops);
    }

    void shutDown() {
        shutDown(client, SHUTDOWN_MILLIS);
        resources.shutdown(0, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(SHUTDOWN_MILLIS);
        loops.shutdown(0, SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(SHUTDOWN_MILLIS);
    }

    /** Ends a client also on an interrupted thread, where Lettuce's own {@code shutdown} throws and leaves the rest. */
    static void shutDown(AbstractRedisClient client, long millis) {
        PatientWait.within(client.shutdownAsync(0, millis, TimeUnit.MILLISECONDS), LONGEST_SHUTDOWN);
    }
}
