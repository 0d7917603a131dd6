package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The shared part of the tests of a quorum: three independent servers, stores on them, and wires between. */
abstract class QuorumCase {
    static final Duration BRIEF = Duration.ofSeconds(1);
    static final Duration LONG = Duration.ofMinutes(10);
    static final String NAME = "order:42";
    static final String KEY = "holdfast:{" + NAME + "}";

    final Rig.Time time = new Rig.Time();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    QuorumServers servers;

    @BeforeEach
    void startServers() {
        servers = OrSkip.orSkip(() -> QuorumServers.start(3));
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each = opened.poll(); each != null; each = opened.poll()) {
            each.close();
        }
        time.close();
        servers.close();
    }

    /** A wire to each member. */
    List<TcpProxy> wires() {
        return servers.all().stream()
                .map(member -> opened(TcpProxy.to(member.port())))
                .toList();
    }

    static String through(List<TcpProxy> wires) {
        return wires.stream()
                .map(wire -> "redis://127.0.0.1:" + wire.port())
                .collect(Collectors.joining(",", "quorum:", "?timeout=3s"));
    }

    static boolean hasHolder(RedisServer member) {
        return ask(member, "GET", KEY).startsWith("1 X");
    }

    QuorumStore open() {
        return open(servers.url() + "?timeout=3s");
    }

    QuorumStore open(String url) {
        return open(url, time);
    }

    QuorumStore open(String url, TimeSource with) {
        return opened(RedisStoreProvider.openQuorum(RedisUrl.parse(url, Optional.empty()), with));
    }

    RedisStore single(RedisServer member) {
        return opened(
                RedisStoreProvider.open(RedisUrl.parse(member.uri(), Optional.empty()), time, PendingClaims.POLL));
    }

    <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    static Grant hold(QuorumStore store, Claim claim) {
        return Rig.get(Asked.of(store, claim).answer()).orElseThrow(() -> new AssertionError("not free: " + claim));
    }

    static Optional<Grant> attempt(QuorumStore store, String name) {
        return Rig.get(Asked.of(store, Rig.claim(name)).answer());
    }

    static boolean granted(QuorumStore store, String name) {
        try {
            return attempt(store, name).isPresent();
        } catch (StoreUnavailableException membersSitOut) {
            return false;
        }
    }

    static Renewal.Verdict verdict(QuorumStore store, Grant grant) {
        return Rig.get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    static String ask(RedisServer member, String... command) {
        return String.valueOf(member.call(command));
    }

    /** A time whose tasks of one delay are run by hand. */
    final class ByHand implements TimeSource {
        private final Duration which;
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        ByHand(Duration which) {
            this.which = which;
        }

        boolean hasTask() {
            return !tasks.isEmpty();
        }

        void run() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            if (!delay.equals(which)) {
                return time.schedule(task, delay);
            }
            tasks.add(task);
            return () -> tasks.remove(task);
        }
    }
}
