package dev.holdfast.zookeeper;

import java.time.Duration;
import java.util.Optional;
import org.apache.curator.framework.api.ACLProvider;
import org.jspecify.annotations.Nullable;

/**
 * How locks in ZooKeeper are kept. Immutable; each method with an argument returns a changed copy.
 *
 * <pre>{@code
 * StoreFactory store = ZooKeeperStores.on(curator, ZooKeeperOptions.defaults().tick(Duration.ofSeconds(2)));
 * }</pre>
 */
public final class ZooKeeperOptions {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration TICK = Duration.ofSeconds(3);

    private final Duration timeout;
    private final Duration tick;
    private final boolean ridesOutDisconnects;
    private final @Nullable ACLProvider acls;

    private ZooKeeperOptions(Duration timeout, Duration tick, boolean ridesOutDisconnects, @Nullable ACLProvider acls) {
        if (timeout.isNegative() || timeout.isZero() || tick.isNegative() || tick.isZero()) {
            throw new IllegalArgumentException("timeout and tick must be longer than nothing");
        }
        this.timeout = timeout;
        this.tick = tick;
        this.ridesOutDisconnects = ridesOutDisconnects;
        this.acls = acls;
    }

    /**
     * Five seconds for a request, a tick of three seconds, and no hold is valid while the connection is broken; the rights
     * that the Curator client gives to the nodes that it makes.
     */
    public static ZooKeeperOptions defaults() {
        return new ZooKeeperOptions(TIMEOUT, TICK, false, null);
    }

    /**
     * After this a request is answered with {@link dev.holdfast.StoreUnavailableException}; a claim that waits is not a
     * request.
     */
    public Duration timeout() {
        return timeout;
    }

    /**
     * With another time for a request.
     *
     * @throws IllegalArgumentException if it is zero or negative
     */
    public ZooKeeperOptions timeout(Duration value) {
        return new ZooKeeperOptions(value, tick, ridesOutDisconnects, acls);
    }

    /**
     * The {@code tickTime} of the servers, or longer: a hold is valid that much shorter than its session may live, since
     * the leader of an ensemble learns of a follower's clients only so often.
     */
    public Duration tick() {
        return tick;
    }

    /**
     * With the tick of the servers.
     *
     * @throws IllegalArgumentException if it is zero or negative
     */
    public ZooKeeperOptions tick(Duration value) {
        return new ZooKeeperOptions(timeout, value, ridesOutDisconnects, acls);
    }

    /**
     * Whether a hold stays valid while the connection is broken, until its lease ends; otherwise it is not valid until
     * the session is connected again.
     */
    public boolean ridesOutDisconnects() {
        return ridesOutDisconnects;
    }

    /** Whether holds stay valid while the connection is broken. */
    public ZooKeeperOptions ridesOutDisconnects(boolean value) {
        return new ZooKeeperOptions(timeout, tick, value, acls);
    }

    /** The rights to the nodes that are made; empty for those of the Curator client. */
    public Optional<ACLProvider> acls() {
        return Optional.ofNullable(acls);
    }

    /**
     * With rights to the nodes that are made. Unless it is given, they are those of the provider that the Curator client was
     * made with, and without such a provider everyone has all.
     */
    public ZooKeeperOptions acls(ACLProvider value) {
        return new ZooKeeperOptions(timeout, tick, ridesOutDisconnects, value);
    }
}
