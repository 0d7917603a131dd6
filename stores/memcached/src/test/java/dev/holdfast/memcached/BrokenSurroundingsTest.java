package dev.holdfast.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Holder;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import net.spy.memcached.ConnectionFactory;
import net.spy.memcached.DefaultConnectionFactory;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.MemcachedNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors from what surrounds the store: a listener that throws, a timer that fails once. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class BrokenSurroundingsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(30);
    /** Between the pauses before a claim or a request is repeated, and those between two looks for late commands. */
    private static final Duration BRIEF = Duration.ofMillis(100);

    @Started
    private static MemcachedServer server;

    @Test
    void aWaitingClaimThatCannotBePolledAgainFails() throws Exception {
        FaultyTime time = new FaultyTime();
        try (Store store = store(server.port(), time);
                Store other = store(server.port(), new KitTime())) {
            Grant held = granted(other, claim("polled", false));
            Asked waiting = Asked.of(store, claim("polled", true));

            time.failNextTask(delay -> delay.compareTo(BRIEF) < 0, new StackOverflowError("of a timer"));

            assertFails(waiting.answer());
            result(other.release(held));
            assertThat(granted(store, claim("polled", true))).isNotNull();
        }
    }

    @Test
    void aClaimWhoseReportAListenerDoesNotTakeIsGranted() throws Exception {
        try (Store store = store(server.port(), new KitTime());
                Store other = store(server.port(), new KitTime())) {
            store.listen(new IgnoringListener() {
                @Override
                public void reachable(String name) {
                    throw new StackOverflowError("of a listener");
                }
            });
            Grant granted = granted(store, claim("heard", true));

            result(store.release(granted));
            assertThat(granted(other, claim("heard", false))).isNotNull();
        }
    }

    @Test
    void aReleaseThatCannotBeRepeatedFails() throws Exception {
        FaultyTime time = new FaultyTime();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port(), time)) {
            Grant held = granted(store, claim("released", false));
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("gets "));
            time.failNextTask(delay -> delay.compareTo(BRIEF) < 0, new StackOverflowError("of a timer"));

            assertFails(store.release(held));

            lost.awaitBite(LONG);
            assertThat(result(store.release(held))).isTrue();
        }
    }

    @Test
    void aClaimWhoseTimeCannotBeWatchedFailsAndLeavesNothing() throws Exception {
        FaultyTime time = new FaultyTime();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port(), time);
                Store other = store(server.port(), new KitTime())) {
            granted(store, claim("connected", false));
            await().atMost(LONG).until(time::isIdle);
            time.failNextTask(delay -> delay.compareTo(BRIEF) > 0, new StackOverflowError("of a timer"));
            Claim claim = claim("watched", false);
            proxy.toServer().hold(); // what is answered at once need not be watched

            assertFails(Asked.of(store, claim).answer());

            proxy.toServer().resume();
            result(store.withdraw(claim));
            assertThat(granted(other, claim("watched", false))).isNotNull();
        }
    }

    /** An Error on spymemcached's thread would end it, and with it the client of the application. */
    @Test
    void aCommandWhoseAnswerMeetsAnErrorFailsAndTheNextIsAnswered() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        ConnectionFactory nodes = new DefaultConnectionFactory() {
            @Override
            public MemcachedNode createMemcachedNode(SocketAddress address, SocketChannel channel, int buffer) {
                MemcachedNode node = super.createMemcachedNode(address, channel, buffer);
                return proxy(node, method -> {
                    if (method.getName().equals("setContinuousTimeout") && fails.compareAndSet(true, false)) {
                        throw new NoClassDefFoundError("of a node");
                    }
                });
            }
        };
        MemcachedClient client = new MemcachedClient(
                nodes, List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port())));
        try (Store store = new MemcachedStore(
                client.getConnection(),
                new KitTime(),
                Duration.ofSeconds(3),
                MemcachedStore.SHORTEST_LEASE,
                new Errors("memcached (a test's client)"),
                client::shutdown)) {
            granted(store, claim("before", false));
            fails.set(true);

            assertFails(Asked.of(store, claim("in error", false)).answer());

            assertThat(fails).isFalse();
            assertThat(granted(store, claim("after", false))).isNotNull();
        }
    }

    private static MemcachedNode proxy(MemcachedNode real, Consumer<Method> before) {
        return (MemcachedNode) Proxy.newProxyInstance(
                BrokenSurroundingsTest.class.getClassLoader(),
                new Class<?>[] {MemcachedNode.class},
                (proxy, method, arguments) -> {
                    before.accept(method);
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Store store(int port, TimeSource time) {
        return new MemcachedStoreProvider()
                .open("memcached://127.0.0.1:" + port + "?timeout=3s", new StoreContext(time));
    }

    private static Claim claim(String name, boolean waits) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, LEASE, waits, 0, new Holder("host", 1, "thread", ""));
    }

    private static Grant granted(Store store, Claim claim) throws Exception {
        Optional<Grant> grant = result(Asked.of(store, claim).answer());
        return grant.orElseThrow();
    }

    private static <T> T result(CompletionStage<T> answer) throws Exception {
        return answer.toCompletableFuture().get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private static void assertFails(CompletionStage<?> answer) {
        assertThatThrownBy(() -> result(answer))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class);
    }
}
