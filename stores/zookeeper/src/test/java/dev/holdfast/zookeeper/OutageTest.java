package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A request made while the servers are away, and a wait that failed, leave nothing behind. */
@Timeout(120)
class OutageTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final int TRIES = 1_000;
    private static final int WAITS = 50;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private TcpProxy proxy;
    private Store store;

    @BeforeEach
    void open() {
        proxy = TcpProxy.to(server.port());
        store = new ZooKeeperStoreProvider()
                .open("zk://127.0.0.1:" + proxy.port() + "?session=30s&timeout=2s&tick=300ms", new StoreContext(time));
    }

    @AfterEach
    void close() {
        store.close();
        proxy.close();
        time.close();
    }

    @Test
    void triesOfAnOutageAreNotSentNorWithdrawnWhenItEnds() throws Exception {
        Grant grant = granted(Asked.of(store, claim("before", true)));
        proxy.refuse();
        assertThat(proxy.cut()).isPositive();
        awaitDisconnected();
        List<CompletableFuture<?>> failures = new ArrayList<>();
        for (int i = 0; i < TRIES; i++) {
            Claim claim = claim("tried-" + i, false);
            failures.add(Asked.of(store, claim).answer());
            assertThat(store.withdraw(claim).toCompletableFuture())
                    .as("the withdrawal of a claim that was not sent")
                    .isCompleted();
            failures.add(store.status(claim.name()).toCompletableFuture());
        }
        CompletableFuture<Boolean> released = store.release(grant).toCompletableFuture();
        store.release(grant);
        failures.forEach(OutageTest::assertUnavailable);
        assertUnavailable(released);
        long before = received();

        proxy.heal();

        await().atMost(TIME_LIMIT)
                .until(() -> store.status("before")
                        .toCompletableFuture()
                        .handle((status, failure) -> failure == null && !status.isHeld())
                        .get(60, TimeUnit.SECONDS));
        assertThat(received() - before).as("requests that came late").isLessThan(TRIES / 10);
    }

    @Test
    void aWaitThatBeginsDuringAnOutageHearsOfIt() throws Exception {
        AtomicInteger away = new AtomicInteger();
        store.listen(new Counting(away, new AtomicInteger()));
        proxy.refuse();
        assertThat(proxy.cut()).isPositive();
        awaitDisconnected();
        Asked.of(store, claim("late", true));
        assertThat(away).hasPositiveValue();
        proxy.heal();
    }

    /** A failed list has no name, so the query of the outage must use the name of the withdrawn try. */
    @Test
    @Tag("thorough")
    void parkedRequestsRunAfterAFailedListAndTry() throws Exception {
        try (LockClient client = LockClient.connect("zk://127.0.0.1:" + proxy.port())) {
            client.lock("first").acquire().close();
            proxy.refuse();
            assertThat(proxy.cut()).isPositive();
            assertThatThrownBy(() -> client.list("*")).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> client.lock("tried").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
            CompletableFuture<Hold> waiting = client.lock("waited-for").acquireAsync();
            proxy.heal();
            waiting.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aWaitThatWasGivenUpLeavesNothingInThisProcess() throws Exception {
        granted(Asked.of(store, claim("waited", true)));
        List<WeakReference<Asked>> waits = new ArrayList<>();
        for (int i = 0; i < WAITS; i++) {
            waits.add(new WeakReference<>(waitInVain("waited")));
        }

        await().atMost(TIME_LIMIT).until(() -> {
            System.gc();
            return waits.stream().filter(wait -> wait.get() != null).count() <= 1;
        });
    }

    /** The client library finds a server silent after two thirds of the session: here after 40 s. */
    @Test
    void aSilentServerIsReportedToWaitersLongBeforeTheClientLibraryNotices() throws Exception {
        granted(Asked.of(store, claim("silent", true)));
        AtomicInteger away = new AtomicInteger();
        AtomicInteger back = new AtomicInteger();
        Store waiting = new ZooKeeperStoreProvider()
                .open(
                        "zk://127.0.0.1:" + proxy.port() + "?session=60s&timeout=2s&tick=300ms",
                        new StoreContext(new Hasty(time)));
        waiting.listen(new Counting(away, back));
        Asked.of(waiting, claim("silent", true));
        await().atMost(TIME_LIMIT)
                .until(() -> store.status("silent")
                                .toCompletableFuture()
                                .get(60, TimeUnit.SECONDS)
                                .waiting()
                        == 1);

        proxy.toClient().hold();
        await().atMost(TIME_LIMIT).until(() -> away.get() > 0);
        int before = back.get();
        proxy.toClient().resume();

        await().atMost(TIME_LIMIT).until(() -> back.get() > before);
        waiting.close();
    }

    /** A time in which long delays are short. */
    private record Hasty(TimeSource real) implements TimeSource {
        private static final Duration LONG = Duration.ofSeconds(5);

        @Override
        public long nanoTime() {
            return real.nanoTime();
        }

        @Override
        public long wallMillis() {
            return real.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return real.schedule(task, delay.compareTo(LONG) > 0 ? delay.dividedBy(10) : delay);
        }
    }

    private record Counting(AtomicInteger away, AtomicInteger back) implements StoreListener {
        @Override
        public void lost(Grant grant) {}

        @Override
        public void suspect(Grant grant) {}

        @Override
        public void unreachable(String name, Throwable why) {
            away.incrementAndGet();
        }

        @Override
        public void reachable() {
            back.incrementAndGet();
        }
    }

    private Asked waitInVain(String name) throws Exception {
        Asked pending = Asked.of(store, claim(name, true));
        await().atMost(TIME_LIMIT)
                .until(() -> store.status(name)
                                .toCompletableFuture()
                                .get(60, TimeUnit.SECONDS)
                                .waiting()
                        == 1);
        pending.cancel();
        assertThat(pending.answer().get(60, TimeUnit.SECONDS)).isEmpty();
        return pending;
    }

    private void awaitDisconnected() {
        await().atMost(TIME_LIMIT)
                .untilAsserted(() -> assertThatThrownBy(
                                () -> store.status("any").toCompletableFuture().get(60, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class));
        await().atMost(TIME_LIMIT) // requests under way fail before the client library reports the end of the
                // connection
                .until(() -> store.withdraw(claim("never made", false))
                        .toCompletableFuture()
                        .isDone());
    }

    private static void assertUnavailable(CompletableFuture<?> answer) {
        assertThatThrownBy(() -> answer.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(StoreUnavailableException.class);
    }

    private static long received() {
        return ZooKeeperServers.figure(server, "zk_packets_received");
    }
}
