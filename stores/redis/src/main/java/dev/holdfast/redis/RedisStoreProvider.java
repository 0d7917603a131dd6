package dev.holdfast.redis;

import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Opens locks kept in Redis.
 *
 * <ul>
 *   <li>{@code redis://HOST[:PORT][/DATABASE]}, for example {@code redis://127.0.0.1:6379}
 *   <li>{@code redis://USER:PASSWORD@HOST…} and {@code redis://:PASSWORD@HOST…}; the password may be given beside the
 *       URL instead
 *   <li>{@code redis-sentinel://HOST[:PORT],HOST…/MASTER}: the master of that name, as the Sentinels report
 *   <li>{@code redis-cluster://HOST[:PORT],HOST…}: a cluster, some of whose nodes are named
 *   <li>{@code quorum:redis://HOST[:PORT],redis://HOST…,redis://HOST…}: independent servers, an odd number of three or
 *       more, of which a majority must grant
 *   <li>{@code rediss://…}, {@code rediss-sentinel://…} and {@code rediss-cluster://…} for TLS, with the certificates
 *       the JVM trusts, or those of a file: {@code ?cacert=FILE}
 *   <li>{@code ?timeout=5s}: how long a request may go without an answer; 5 s unless it is given
 *   <li>{@code ?acks=1}: how many replicas must confirm a grant before it counts; none unless it is given
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class RedisStoreProvider implements StoreProvider {
    /** The provider; made by {@link java.util.ServiceLoader}. */
    public RedisStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of(
                "redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster", "quorum");
    }

    /**
     * Connects to the server or servers of a URL.
     *
     * @throws IllegalArgumentException if the URL is malformed; the message shows a good one
     * @throws dev.holdfast.StoreRefusedException if the server is refused or refuses: a wrong password, TLS on one side
     *     only, no such database, no Redis at all, one older than 5, a replica, a node of a cluster where the URL says
     *     there is none or the reverse, a master that the Sentinels do not know, a cluster without all slots, one
     *     server twice in a quorum
     * @throws dev.holdfast.StoreUnavailableException if it does not answer
     */
    @Override
    public Store open(String url, StoreContext context) {
        RedisUrl parsed = RedisUrl.parse(url, context.password());
        return parsed.kind() == RedisUrl.Kind.QUORUM
                ? openQuorum(parsed, context.time())
                : open(parsed, context.time(), PendingClaims.POLL);
    }

    @Override
    public String describe(String url, StoreContext context) {
        return RedisUrl.parse(url, context.password()).description();
    }

    /** The fence of {@link RedisFence}; not of a quorum, since a fence is kept in one place. */
    @Override
    public StoreFence openFence(String url, Optional<String> password) {
        RedisUrl parsed = RedisUrl.parse(url, password);
        if (parsed.kind() == RedisUrl.Kind.QUORUM) {
            throw new UnsupportedByStoreException("a quorum keeps no fences: a fence is kept in one place, where the"
                    + " protected data is; give the URL of that server");
        }
        return UrlFence.open(parsed);
    }

    static QuorumStore openQuorum(RedisUrl url, TimeSource time) {
        Settings settings = new Settings(time, url.timeout(), PendingClaims.POLL, 0);
        return Quorum.open(LettuceClients.of(url), url, new RedisErrors(url.description()), settings);
    }

    static RedisStore open(RedisUrl url, TimeSource time, Duration poll) {
        LettuceClients own = LettuceClients.of(url);
        RedisErrors errors = new RedisErrors(url.description());
        Settings settings = new Settings(time, url.timeout(), poll, url.acks());
        return url.kind() == RedisUrl.Kind.CLUSTER
                ? Cluster.open(own.client(), url.servers(), errors, settings, own::shutDown)
                : SingleServer.open(
                        own.client(),
                        () -> own.client().connectPubSubAsync(StringCodec.UTF8, url.uri()),
                        errors,
                        settings,
                        url.uri().isSsl(),
                        own.resources().eventBus(),
                        own::shutDown);
    }
}
