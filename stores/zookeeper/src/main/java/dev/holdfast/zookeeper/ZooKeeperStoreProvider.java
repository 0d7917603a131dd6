package dev.holdfast.zookeeper;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Opens locks kept in ZooKeeper.
 *
 * <ul>
 *   <li>{@code zk://HOST[:PORT],HOST[:PORT]…[/CHROOT]}, for example {@code zk://zoo1:2181,zoo2:2181,zoo3:2181}
 *   <li>{@code zk://USER:PASSWORD@HOST…} logs in with a digest, and only that user can work on the nodes that are made;
 *       the password may be given beside the URL instead
 *   <li>{@code ?session=15s}: the session time-out that is asked for; unless it is given, what
 *       {@link dev.holdfast.LockClientBuilder#session} says, or 15 s
 *   <li>{@code ?timeout=5s}: how long a request may go without an answer; 5 s unless it is given
 *   <li>{@code ?tick=3s}: the {@code tickTime} of the servers, or longer; 3 s unless it is given
 *   <li>{@code ?disconnect=ride}: holds stay valid while the connection is broken, until their lease ends;
 *       {@code disconnect=doubt} unless it is given
 *   <li>{@code ?config=FILE}: settings of ZooKeeper's client library, for TLS above all
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class ZooKeeperStoreProvider implements StoreProvider {
    private static final System.Logger LOG = System.getLogger("dev.holdfast.zookeeper");

    /** The provider; made by {@link java.util.ServiceLoader}. */
    public ZooKeeperStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zk");
    }

    /**
     * Connects to the servers of a URL.
     *
     * @throws IllegalArgumentException if the URL is malformed; the message says what a good one looks like
     * @throws dev.holdfast.StoreRefusedException if the servers will not do: rights that are missing, no such chroot, a
     *     newer layout
     * @throws dev.holdfast.StoreUnavailableException if no server answers, or none that has a majority
     */
    @Override
    public Store open(String url, StoreContext context) {
        ZooKeeperUrl parsed = ZooKeeperUrl.parse(url, context.password());
        return open(parsed.sessionOr(context.session()), parsed.session().or(context::session), context);
    }

    @Override
    public String describe(String url, StoreContext context) {
        return ZooKeeperUrl.parse(url, context.password()).description();
    }

    /** The fence of {@link ZooKeeperFence}. */
    @Override
    public StoreFence openFence(String url, Optional<String> password) {
        return UrlFence.open(ZooKeeperUrl.parse(url, password));
    }

    private static Store open(ZooKeeperUrl url, Optional<Duration> asked, StoreContext context) {
        ElapsedTime time = ElapsedTime.of(context.time());
        CuratorClients own = CuratorClients.start(url, time);
        Store store = new StoreOpener(
                        own.curator(),
                        new Paths(""),
                        own.acls(),
                        url.options(),
                        time,
                        new Errors(url.description()),
                        own.attempted()::get)
                .open((locks, limit) -> own.close(limit));
        asked.ifPresent(session -> sayIfOther(url, session, own.sessionTimeout()));
        return store;
    }

    /** The servers bound what they give; only a caller that asked for a length needs a report of it. */
    private static void sayIfOther(ZooKeeperUrl url, Duration asked, Duration given) {
        if (!given.isZero() && !asked.equals(given)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    url.description() + " gives sessions of " + text(given) + " where " + text(asked)
                            + " were asked for: the locks of a client that dies are free after"
                            + " that time and up to one tick; the servers' minSessionTimeout and maxSessionTimeout"
                            + " bound it, and no less than 2 s is asked for unless the URL says so");
        }
    }

    private static String text(Duration time) {
        return time.toMillis() % 1_000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }
}
