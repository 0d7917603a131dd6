package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Holder;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Very many grants. The renewal of each takes two reads the first time, its lock's children and its node, and none after
 * that while its queue stays as it is; to break one of many permits takes a read of each.
 */
@Timeout(180)
class ManyGrantsTest {
    private static final KitTime time = new KitTime();
    private static final Duration TIME_LIMIT = Duration.ofMinutes(2);
    private static final int GRANTS = 5_000;
    private static final int AT_ONCE = 500;
    private static final int LONG_SESSION = 60_000;

    private static final CompletableFuture<Void> HANDLED_AT_ONCE = CompletableFuture.completedFuture(null);

    /** Answers to reads of a node are handled when this is complete. */
    private volatile CompletableFuture<Void> dataHandled = HANDLED_AT_ONCE;

    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private ZooKeeperServer server;
    private TcpProxy proxy;
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        server = ZooKeeperServers.quick();
        proxy = TcpProxy.to(server.port());
        curator = CuratorFrameworkFactory.builder()
                .connectString("127.0.0.1:" + proxy.port())
                .sessionTimeoutMs(LONG_SESSION)
                .retryPolicy(new RetryOneTime(100))
                .zookeeperFactory(new Counting())
                .build();
        curator.start();
        curator.blockUntilConnected();
    }

    @AfterEach
    void close() {
        curator.close();
        proxy.close();
        server.close();
    }

    @Test
    @Tag("thorough")
    void onlySomeRequestsAreUnderWayAtATime() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, GRANTS);
            most.set(0);
            reads.set(0);

            assertHeld(store.renew(grants));

            assertThat(reads).hasValue(2 * GRANTS);
            assertThat(most.get()).isBetween(1, Renewals.AT_A_TIME);
        }
    }

    @Test
    void aLockWhoseQueueIsUnchangedIsNotReadAgain() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, AT_ONCE);
            assertHeld(store.renew(grants));
            reads.set(0);

            assertHeld(store.renew(grants));

            assertThat(reads).hasValue(0);
        }
    }

    @Test
    @Tag("thorough")
    void everyQueueIsReadAgainAfterTheConnectionWasLost() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, AT_ONCE);
            assertHeld(store.renew(grants));
            reads.set(0);

            proxy.cut();
            assertHeld(renewedOnceItIsBack(store, grants));

            assertThat(reads).hasValueGreaterThanOrEqualTo(AT_ONCE);
        }
    }

    @Test
    @Tag("thorough")
    void anUnchangedQueueIsReadAgainAfterManyRenewals() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, 1);
            assertHeld(store.renew(grants));
            reads.set(0);
            for (int i = 0; i < WatchedQueues.MOST_RENEWALS; i++) {
                assertHeld(store.renew(grants));
            }
            assertThat(reads)
                    .as("by as many renewals as one read is enough for")
                    .hasValue(0);

            assertHeld(store.renew(grants));

            assertThat(reads).hasValue(1);
        }
    }

    @Test
    @Tag("thorough")
    void aLongQueueIsReadByEachRenewal() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, AT_ONCE, i -> claim("permits", new Mode.Permits(1, GRANTS)));
            assertHeld(store.renew(grants));
            reads.set(0);

            assertHeld(store.renew(grants));

            assertThat(reads).hasValue(1);
        }
    }

    @Test
    @Tag("thorough")
    void aNodeWhoseReadIsHandledAfterTheConnectionWasLostIsReadAgain() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, 1);
            CompletableFuture<Void> handled = new CompletableFuture<>();
            dataHandled = handled;
            CompletionStage<Map<ClaimId, Renewal>> first = store.renew(grants);
            await().atMost(TIME_LIMIT).until(() -> handled.getNumberOfDependents() == 1);
            dataHandled = HANDLED_AT_ONCE;
            proxy.cut();
            await().atMost(TIME_LIMIT).until(() -> curator.checkExists().forPath("/") != null);
            handled.complete(null);
            settled(first);
            reads.set(0);

            assertHeld(renewedOnceItIsBack(store, grants));

            assertThat(reads).as("its queue and its node").hasValueGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void aClaimThatComesToWaitAfterARenewalIsSeenByALaterOne() throws Exception {
        try (Store store = store(Duration.ofSeconds(30))) {
            List<Grant> grants = granted(store, 1);
            assertHeld(store.renew(grants));
            assertHeld(store.renew(grants));
            assertThat(contended(store, grants)).as("before anyone waits").isFalse();

            Asked waiting = Asked.of(store, claim("grant-0", Mode.EXCLUSIVE));
            await().atMost(TIME_LIMIT).until(() -> contended(store, grants));

            waiting.cancel();
            await().atMost(TIME_LIMIT).until(() -> !contended(store, grants));
        }
    }

    @Test
    void aClaimWhoseReportIsStillOnItsWayIsSeenByTheRenewal() throws Exception {
        try (Store store = store(Duration.ofSeconds(30));
                Store other = new ZooKeeperStoreProvider()
                        .open(ZooKeeperServers.url(server, "30s"), new StoreContext(time))) {
            List<Grant> grants = granted(store, 1);
            assertHeld(store.renew(grants));
            proxy.toClient().hold();
            Asked waiting = Asked.of(other, claim("grant-0", Mode.EXCLUSIVE));
            await().atMost(TIME_LIMIT)
                    .until(() -> answer(other.status("grant-0")).waiting() == 1);

            CompletionStage<Map<ClaimId, Renewal>> renewed = store.renew(grants);
            proxy.toClient().resume();

            assertThat(answer(renewed).get(grants.get(0).id()).contended()).isTrue();
            waiting.cancel();
        }
    }

    @Test
    @Tag("thorough")
    void allOfItMayTakeLongerThanOneRequestMay() throws Exception {
        Duration timeout = Duration.ofSeconds(4);
        try (Store store = store(timeout)) {
            List<Grant> grants = granted(store, GRANTS);
            proxy.toClient().delay(Duration.ofMillis(600));
            long before = System.nanoTime();

            assertHeld(store.renew(grants));

            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(timeout);
        }
    }

    /** A semaphore may have as many holders, and which of them has a number is known when each was read. */
    @Test
    @Tag("thorough") // the case beside it has as many
    void breakingOneOfVeryManyMayTakeLongerThanOneRequestMay() throws Exception {
        Duration timeout = Duration.ofSeconds(3);
        try (Store store = store(timeout)) {
            List<Grant> grants = granted(store, 2 * AT_ONCE, i -> claim("permits", new Mode.Permits(1, GRANTS)));
            proxy.toClient().delay(Duration.ofMillis(300));
            long before = System.nanoTime();

            Grant last = grants.get(grants.size() - 1);
            assertThat(answer(store.breakGrant("permits", last.number(), true))).isTrue();

            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(timeout);
            assertThat(answer(store.renew(List.of(last))).get(last.id()).verdict())
                    .isEqualTo(Verdict.LOST);
        }
    }

    @Test
    @Tag("thorough")
    void serversThatDoNotAnswerAreAskedNoMore() throws Exception {
        try (Store store = store(Duration.ofSeconds(2))) {
            List<Grant> grants = granted(store, 2 * AT_ONCE);
            reads.set(0);
            proxy.toClient().hold();

            assertThatThrownBy(() -> answer(store.renew(grants))).cause().isInstanceOf(StoreUnavailableException.class);

            assertThat(reads.get()).isLessThan(Renewals.AT_A_TIME);
            proxy.toClient().resume();
            await().atMost(TIME_LIMIT).until(() -> curator.checkExists().forPath("/") != null);
            assertHeld(store.renew(grants));
        }
    }

    @Test
    @Tag("thorough")
    void aRenewalUnderWayEndsWithItsClient() throws Exception {
        Store store = store(Duration.ofSeconds(100));
        List<Grant> grants = granted(store, AT_ONCE);
        proxy.toClient().hold();
        reads.set(0);
        CompletionStage<Map<ClaimId, Renewal>> renewed = store.renew(grants);
        await().atMost(TIME_LIMIT).until(() -> reads.get() > 0);

        store.close();

        assertThatThrownBy(() -> renewed.toCompletableFuture().get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOf(ClientClosedException.class);
        proxy.toClient().resume();
    }

    private Store store(Duration timeout) {
        return ZooKeeperStores.on(curator, ZooKeeperServers.options().timeout(timeout))
                .open(new StoreContext(time));
    }

    private static List<Grant> granted(Store store, int count) throws Exception {
        return granted(store, count, i -> claim("grant-" + i, Mode.EXCLUSIVE));
    }

    private static List<Grant> granted(Store store, int count, IntFunction<Claim> claim) throws Exception {
        List<Grant> grants = new ArrayList<>();
        while (grants.size() < count) {
            List<CompletionStage<Optional<Grant>>> some = new ArrayList<>();
            for (int i = grants.size(); i < Math.min(count, grants.size() + AT_ONCE); i++) {
                some.add(Asked.of(store, claim.apply(i)).answer());
            }
            for (CompletionStage<Optional<Grant>> each : some) {
                grants.add(answer(each).orElseThrow());
            }
        }
        return grants;
    }

    private static Claim claim(String name, Mode mode) {
        Holder holder = new Holder("host", 1, "thread", "");
        return new Claim(ClaimId.random(), name, mode, Duration.ofSeconds(60), true, 0, holder);
    }

    private static void assertHeld(CompletionStage<Map<ClaimId, Renewal>> renewed) throws Exception {
        assertThat(answer(renewed).values()).allMatch(renewal -> renewal.verdict() == Verdict.HELD);
    }

    private static boolean contended(Store store, List<Grant> grants) throws Exception {
        return answer(store.renew(grants)).values().stream().anyMatch(Renewal::contended);
    }

    /** Renewals fail until the connection is back. */
    private static CompletableFuture<Map<ClaimId, Renewal>> renewedOnceItIsBack(Store store, List<Grant> grants) {
        return await().atMost(TIME_LIMIT)
                .until(() -> settled(store.renew(grants)), renewed -> !renewed.isCompletedExceptionally());
    }

    private static CompletableFuture<Map<ClaimId, Renewal>> settled(CompletionStage<Map<ClaimId, Renewal>> renewed)
            throws Exception {
        CompletableFuture<Map<ClaimId, Renewal>> future = renewed.toCompletableFuture();
        future.handle((verdicts, failure) -> true).get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
        return future;
    }

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private final class Counting implements ZookeeperFactory {
        @Override
        public ZooKeeper newZooKeeper(String servers, int session, Watcher watcher, boolean readOnly)
                throws IOException {
            return new Counted(servers, session, watcher);
        }
    }

    /** Counts reads, and those that are not answered yet. */
    private final class Counted extends ZooKeeper {
        Counted(String servers, int session, Watcher watcher) throws IOException {
            super(servers, session, watcher);
        }

        @Override
        public void getChildren(String path, Watcher watcher, Children2Callback callback, Object context) {
            begun();
            super.getChildren(
                    path,
                    watcher,
                    (rc, asked, same, children, stat) -> {
                        underWay.decrementAndGet();
                        callback.processResult(rc, asked, same, children, stat);
                    },
                    context);
        }

        @Override
        public void getData(String path, Watcher watcher, DataCallback callback, Object context) {
            begun();
            super.getData(
                    path,
                    watcher,
                    (rc, asked, same, data, stat) -> {
                        underWay.decrementAndGet();
                        dataHandled.thenRun(() -> callback.processResult(rc, asked, same, data, stat));
                    },
                    context);
        }

        private void begun() {
            reads.incrementAndGet();
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        }
    }
}
