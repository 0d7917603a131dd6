package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks on a cluster of three masters, all of which stay. */
class ClusterTest {
    @AutoClose
    private static RedisCluster cluster;

    /** Beside the cluster: a single server. */
    @AutoClose
    private final Rig rig = new Rig();

    @BeforeAll
    static void startServers() {
        cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 0));
    }

    @Test
    void aLockIsHeldOnceWhicheverNodeKeepsIt() {
        RedisStore one = rig.open(url());
        RedisStore two = rig.open(url());
        List<Grant> grants = new ArrayList<>();
        List<String> names = IntStream.range(0, 20).mapToObj(i -> "once:" + i).toList();

        names.forEach(name -> grants.add(Rig.hold(one, name)));

        assertThat(names).allMatch(name -> Rig.attempt(two, name).isEmpty());
        assertThat(cluster.nodes())
                .as("each node keeps some")
                .allMatch(node -> !node.call("DBSIZE").equals("0"));
        assertThat(Rig.get(one.renew(grants)).values())
                .as("renewed in one request, on all nodes")
                .hasSize(20)
                .allMatch(each -> each.verdict() == Renewal.Verdict.HELD);
        assertThat(Rig.get(two.list("once:"))).extracting(LockStatus::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(grants).allMatch(grant -> Rig.release(one, grant));
        assertThat(names).allMatch(name -> Rig.attempt(two, name).isPresent());
    }

    @Test
    void aWaiterIsNotifiedOfAReleaseWhicheverNodeKeepsTheLock() {
        RedisStore holder = rig.open(url());
        RedisStore waiter = rig.open(url(), Rig.NEVER);
        for (String name : onEachNode("notified:").values()) {
            Grant grant = Rig.hold(holder, name);
            Asked waits = Rig.queue(waiter, name);
            Rig.until("it to subscribe", () -> subscribers(name) == 1);

            Rig.release(holder, grant);

            assertThat(Rig.granted(waits).number()).isGreaterThan(grant.number());
        }
    }

    @Test
    void anErrorWhileACallIsPassedOnStopsNoMaster() {
        BrokenTime time = new BrokenTime();
        Thread here = Thread.currentThread();
        try (RedisStore store = open(time)) {
            Rig.hold(store, "a");
            for (int before = 0; before < 2; before++) {
                time.failAfter(before, here::equals);
                assertThatThrownBy(() -> Rig.get(Asked.of(store, Rig.claim("a")).answer()));
                assertThat(time.hasFailed()).isTrue();
                assertThat(Rig.attempt(store, "a")).isEmpty();
            }
        }
    }

    @Test
    void norDoesOneWhileTheClientConnectsToIt() {
        BrokenTime time = new BrokenTime();
        Thread here = Thread.currentThread();
        time.failAfter(0, reader -> reader != here);
        try (RedisStore store = open(time)) {
            assertThat(onEachNode("connected:").values())
                    .allMatch(name -> Rig.attempt(store, name).isPresent());
            assertThat(time.hasFailed()).isTrue();
        }
    }

    private static RedisStore open(BrokenTime time) {
        return RedisStoreProvider.open(RedisUrl.parse(url(), Optional.empty()), time, PendingClaims.POLL);
    }

    /** A time of which one reading fails, after so many others by such threads. */
    private static final class BrokenTime implements TimeSource {
        private final KitTime time = new KitTime();
        private final AtomicInteger left = new AtomicInteger(-1);
        private volatile Predicate<Thread> readers = reader -> false;

        void failAfter(int readings, Predicate<Thread> by) {
            readers = by;
            left.set(readings);
        }

        boolean hasFailed() {
            return left.get() < 0;
        }

        @Override
        public long nanoTime() {
            if (readers.test(Thread.currentThread()) && left.getAndDecrement() == 0) {
                readers = reader -> false;
                throw new InternalError("of the test");
            }
            return time.nanoTime();
        }

        @Override
        public long wallMillis() {
            return time.wallMillis();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return time.schedule(task, delay);
        }
    }

    @Test
    void readersAndPermitsShareWhicheverNodeKeepsTheLock() {
        RedisStore store = rig.open(url());
        for (String name : onEachNode("shared:").values()) {
            Rig.hold(store, Rig.claim(name, Mode.SHARED));
            Rig.hold(store, Rig.claim(name, Mode.SHARED));
            assertThat(Rig.attempt(store, name)).isEmpty();
        }
    }

    @Test
    @Tag("thorough")
    void aClientThatIsClosedWhileItConnectsToItsNodesSaysThatItIsClosed() {
        for (int i = 0; i < 20; i++) {
            RedisStore store = rig.open(url());
            onEachNode("closed:").values().forEach(name -> Asked.of(store, Rig.claim(name, Rig.LEASE)));

            store.close();

            for (int again = 0; again < 20; again++) {
                onEachNode("closed:")
                        .values()
                        .forEach(name -> assertThat(Asked.of(store, Rig.claim(name, Rig.LEASE))
                                        .answer())
                                .failsWithin(Rig.TIMEOUT)
                                .withThrowableOfType(ExecutionException.class)
                                .withCauseInstanceOf(ClientClosedException.class));
            }
        }
    }

    @Test
    void aReleaseAndTheClaimBehindItKeepTheirOrderBeforeAnyConnectionIsOpen() throws Exception {
        for (int i = 0; i < 10; i++) {
            try (LockClient client = LockClient.connect(url())) {
                for (String name : onEachNode("order:").values()) {
                    client.lock(name).acquire().close();
                    client.lock(name).tryAcquire().orElseThrow().close();
                }
            }
        }
    }

    @Test
    void nodesThatHaveForgottenTheScriptsAreTaughtAgain() {
        RedisStore store = rig.open(url());
        cluster.nodes().forEach(node -> node.call("SCRIPT", "FLUSH"));
        for (String name : onEachNode("taught:").values()) {
            assertThat(Rig.release(store, Rig.hold(store, name))).isTrue();
        }
    }

    @Test
    void theApplicationsClusterClientIsUsedWithItsLogInAndStaysItsOwners() throws Exception {
        try (RedisCluster locked = OrSkip.orSkip(() -> RedisCluster.start(1, 0))) {
            RedisServer node = locked.nodes().get(0);
            node.call("CONFIG", "SET", "requirepass", "s3cret");
            RedisURI uri = RedisURI.builder()
                    .withHost("127.0.0.1")
                    .withPort(node.port())
                    .withPassword("s3cret".toCharArray())
                    .build();
            RedisClusterClient redis = RedisClusterClient.create(uri);
            try {
                try (LockClient client =
                                LockClient.builder(RedisStores.on(redis)).build();
                        LockClient other = LockClient.connect("redis-cluster://:s3cret@" + locked.hosts())) {
                    Hold hold = client.lock("a").acquire();
                    assertThat(other.lock("a").tryAcquire()).isEmpty();
                    var next = other.lock("a").acquireAsync();
                    Rig.until("it to wait", () -> other.lock("a").status().waiting() == 1);
                    hold.close();
                    next.get(10, TimeUnit.SECONDS).close();
                }
                assertThat(redis.connect().sync().ping()).isEqualTo("PONG");
            } finally {
                redis.shutdown(0, 0, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void aFenceKeepsEachResourceOnItsNode() {
        try (var fence = new RedisStoreProvider().openFence(url(), java.util.Optional.empty())) {
            for (String name : onEachNode("fence:").values()) {
                fence.check(name, 7);
                assertThatThrownBy(() -> fence.check(name, 6)).isInstanceOf(StaleTokenException.class);
            }
        }
    }

    // ---- refusals ----

    @Test
    void aClusterUrlToASingleServerIsRefused() {
        assertThatThrownBy(() -> rig.open("redis-cluster://127.0.0.1:" + rig.server.port()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("single server")
                .hasMessageContaining("write redis://");
    }

    @Test
    void aUrlOfASingleServerToANodeIsRefused() {
        assertThatThrownBy(() -> rig.open(cluster.nodes().get(0).uri()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("write redis-cluster://");
    }

    @Test
    void aClusterWithoutAllSlotsIsRefused() {
        try (RedisServer alone = OrSkip.orSkip(RedisCluster::startAlone)) {
            alone.call("CLUSTER", "ADDSLOTSRANGE", "0", "999");
            assertThatThrownBy(() -> rig.open("redis-cluster://127.0.0.1:" + alone.port()))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("1000 of 16384");
        }
    }

    @Test
    @Tag("thorough")
    void aSlotThatLosesItsNodeIsReportedAsUnavailable() {
        try (RedisCluster small = OrSkip.orSkip(() -> RedisCluster.start(1, 0))) {
            RedisStore store = rig.open("redis-cluster://" + small.hosts() + "?timeout=1s");
            RedisServer node = small.nodes().get(0);
            String slot = Integer.toString(small.slot("holdfast:{a}"));
            node.call("CLUSTER", "DELSLOTS", slot);

            assertThatThrownBy(() -> Rig.attempt(store, "a"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("cover");

            assertThatThrownBy(() -> Rig.get(store.list("")))
                    .as("a list that lacks locks is none")
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("16383");
            node.call("CLUSTER", "ADDSLOTS", slot);
            Rig.until("the lock to be had", () -> attempted(store, "a"));
        }
    }

    private static boolean attempted(RedisStore store, String name) {
        try {
            return Rig.attempt(store, name).isPresent();
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    @Test
    @Tag("thorough")
    void aNodeThatIsGoneIsPassedOverWhenConnecting() {
        String gone = "redis-cluster://127.0.0.1:" + dev.holdfast.testbed.Ports.free() + ",";
        assertThatCode(() -> rig.open(gone + cluster.hosts())).doesNotThrowAnyException();
        assertThatThrownBy(() -> rig.open("redis-cluster://127.0.0.1:" + dev.holdfast.testbed.Ports.free()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("is it running");
    }

    @Test
    @Tag("thorough")
    void theRightsOnThePageAreEnough() {
        cluster.nodes().forEach(node -> Rights.give(node, "locks", Rights.onThePage() + " +cluster|slots +asking"));
        String url = "redis-cluster://locks:pw@" + cluster.hosts();
        RedisStore one = rig.open(url);
        RedisStore two = rig.open(url);
        onEachNode("rights:").values().forEach(name -> Rights.useAll(one, two, name));
    }

    /** The store does not know then what it is connected to: a cluster behind one address, for example. */
    @Test
    void aNodeThatIsNamedAsASingleServerAndMayNotBeAskedWhatItIsServesItsLocks() {
        RedisStore known = rig.open(url());
        cluster.nodes().forEach(node -> Rights.give(node, "blind", Rights.onThePage() + " -info"));
        Map<Integer, String> names = onEachNode("one-address:");
        names.forEach((port, name) -> {
            RedisStore store = rig.open("redis://blind:pw@127.0.0.1:" + port);
            Grant before = Rig.hold(known, name);
            Asked waits = Rig.queue(store, name);
            Rig.release(known, before);

            Grant grant = Rig.granted(waits);
            assertThat(grant.number()).isGreaterThan(before.number());
            assertThat(Rig.attempt(known, name)).isEmpty();
            assertThat(Rig.renew(store, grant)).isEqualTo(Renewal.Verdict.HELD);
            assertThat(Rig.release(store, grant)).isTrue();
            assertThat(Rig.hold(known, name).number()).as("of one count").isGreaterThan(grant.number());
            String others = names.values().stream()
                    .filter(each -> !each.equals(name))
                    .findAny()
                    .orElseThrow();
            assertThatThrownBy(() -> Rig.attempt(store, others))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("redis-cluster://");
        });
    }

    @Test
    void aReleaseGoesThroughThoughTheLastNumberOfItsSlotIsDamaged() {
        RedisStore store = rig.open(url());
        Grant grant = Rig.hold(store, "damaged");
        Asked waits = Rig.queue(rig.open(url(), Rig.NEVER), "damaged");
        String key = "holdfast:number:{" + SlotTags.of(cluster.slot("holdfast:{damaged}")) + "}";
        Rig.until( // then it asks nothing more
                "the waiter to hear offers",
                () -> Rig.hearing(node("damaged").call("ZRANGE", Rig.queue("damaged"), "0", "-1", "WITHSCORES")) == 1);
        assertThat(node("damaged").call("GET", key)).isEqualTo(Long.toString(grant.number()));
        node("damaged").call("SET", key, "hello");

        assertThat(Rig.release(store, grant)).isTrue();

        assertThatThrownBy(() -> Rig.attempt(store, "damaged")).isInstanceOf(StoreRefusedException.class);
        assertThat(Rig.waiting(store, "damaged")).isEqualTo(1);
        assertThat(waits.answer().toCompletableFuture()).isNotDone();
        node("damaged").call("DEL", key);
    }

    // ---- helpers ----

    private static String url() {
        return "redis-cluster://" + cluster.hosts();
    }

    /** A name for each of the nodes. */
    private static Map<Integer, String> onEachNode(String prefix) {
        Map<Integer, String> names = new LinkedHashMap<>();
        for (int i = 0; names.size() < 3; i++) {
            String name = prefix + i;
            names.putIfAbsent(node(name).port(), name);
        }
        return names;
    }

    private static RedisServer node(String name) {
        return cluster.master(cluster.slot("holdfast:{" + name + "}"));
    }

    /** How many clients are subscribed to offers of a lock at its node. */
    private static int subscribers(String name) {
        return node(name).call("PUBSUB", "CHANNELS", "holdfast:client:*").split("holdfast:client:", -1).length - 1;
    }
}
