package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster that changes while its locks are held and waited for. */
@Tag("thorough")
class TopologyChangesTest {
    private final Rig rig = new Rig();
    private RedisCluster cluster;

    @BeforeEach
    void start() {
        cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 0));
    }

    @AfterEach
    void stop() {
        rig.close();
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void aHoldIsRenewedWhileItsSlotMovesAndAfterwards() {
        RedisStore store = rig.open(url());
        Grant grant = Rig.hold(store, "a");
        int slot = cluster.slot("holdfast:{a}");
        RedisServer to = another(slot);

        cluster.beginMove(slot, to);
        assertThat(Rig.renew(store, grant)).as("before its key has moved").isEqualTo(Renewal.Verdict.HELD);
        cluster.moveKeys(slot, to);
        assertThat(Rig.renew(store, grant)).as("after its key has moved").isEqualTo(Renewal.Verdict.HELD);
        cluster.endMove(slot, to);

        assertThat(Rig.renew(store, grant)).as("at the new node").isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.attempt(rig.open(url()), "a")).isEmpty();
        assertThat(Rig.release(store, grant)).isTrue();
    }

    @Test
    void aClaimMadeWhileItsSlotMovesIsGrantedWhenItHasMoved() {
        RedisStore store = rig.open(url());
        int slot = cluster.slot("holdfast:{a}");
        RedisServer to = another(slot);
        cluster.beginMove(slot, to);

        var claim = Asked.of(store, Rig.claim("a")).answer();
        cluster.moveKeys(slot, to);
        cluster.endMove(slot, to);

        assertThat(Rig.get(claim)).isPresent();
    }

    @Test
    void aWaiterIsNotifiedOfTheReleaseAtTheNewNode() {
        RedisStore holder = rig.open(url());
        RedisStore waiter = rig.open(url());
        Grant grant = Rig.hold(holder, "a");
        Asked waits = Rig.queue(waiter, "a");
        int slot = cluster.slot("holdfast:{a}");
        RedisServer to = another(slot);

        cluster.beginMove(slot, to);
        cluster.moveKeys(slot, to);
        cluster.endMove(slot, to);
        Rig.release(holder, grant);

        assertThat(Rig.granted(waits).number()).isGreaterThan(grant.number());
    }

    @Test
    @Tag("thorough")
    void allSlotsOfANodeMoveToANewOneAndThenItLeaves() {
        RedisStore store = rig.open(url());
        Grant grant = Rig.hold(store, "a");
        int slot = cluster.slot("holdfast:{a}");
        RedisServer from = cluster.master(slot);
        RedisServer to = cluster.addMaster();

        cluster.moveAll(from, to);
        from.process().kill();

        assertThat(Rig.renew(store, grant)).isEqualTo(Renewal.Verdict.HELD);
        assertThat(Rig.release(store, grant)).isTrue();
    }

    @Test
    @Tag("thorough")
    void aHolderIsNotifiedOfAWaiterAfterTheNodeOfItsLockIsGone() {
        AtomicInteger wanted = new AtomicInteger();
        RedisStore store = rig.open(url());
        store.listen(new IgnoringListener() {
            @Override
            public void wanted(Grant grant) {
                wanted.incrementAndGet();
            }
        });
        Grant grant = Rig.hold(store, "a");
        assertThat(Rig.get(store.watch(grant))).isFalse();
        RedisServer from = cluster.master(cluster.slot("holdfast:{a}"));
        cluster.moveAll(from, cluster.addMaster());
        from.process().kill();
        assertThat(Rig.renew(store, grant)).isEqualTo(Renewal.Verdict.HELD);

        Rig.queue(rig.open(url()), "a");

        Rig.until("the holder to be notified", () -> wanted.get() > 0);
    }

    @Test
    @Tag("thorough")
    void aLockKeepsItsHoldersApartWhileItsSlotMovesToAndFro() throws Exception {
        int slot = cluster.slot("holdfast:{a}");
        try (LockClient one = LockClient.connect(url());
                LockClient two = LockClient.connect(url())) {
            Guarded guarded = new Guarded();
            try (AutoCloseable first = guarded.use(one.lock("a"));
                    AutoCloseable second = guarded.use(two.lock("a"))) {
                for (int i = 0; i < 20; i++) {
                    int before = guarded.uses();
                    RedisServer to = another(slot);
                    cluster.beginMove(slot, to);
                    cluster.moveKeys(slot, to);
                    cluster.endMove(slot, to);
                    Rig.until("the lock to be used again", () -> guarded.uses() > before + 5);
                }
            }
            guarded.check();
        }
    }

    /** Redis itself needs time besides: the other nodes must find out that the master is gone, and vote. */
    @Test
    @Tag("thorough")
    void aHoldAndAWaiterOutliveTheMasterOfTheirLock() throws Exception {
        try (RedisCluster replicated = OrSkip.orSkip(() -> RedisCluster.start(3, 1));
                LockClient one = LockClient.connect("redis-cluster://" + replicated.hosts());
                LockClient two = LockClient.connect("redis-cluster://" + replicated.hosts())) {
            Hold hold = one.lock("a").acquire();
            var next = two.lock("a").acquireAsync();
            Rig.until("it to wait", () -> two.lock("a").status().waiting() == 1);
            int slot = replicated.slot("holdfast:{a}");
            RedisServer master = replicated.master(slot);
            replicated.awaitOffset(master);

            master.process().kill();

            Rig.until("a replica to be the master", () -> replicated.isServed(slot));
            Rig.until("the hold to be seen there", () -> one.lock("a").status().isHeld());
            assertThat(hold.isValid()).isTrue();
            assertThat(next).isNotDone();
            long token = hold.token();
            hold.close();
            try (Hold there = next.get(30, TimeUnit.SECONDS)) {
                assertThat(there.token()).isGreaterThan(token);
            }
        }
    }

    @Test
    @Tag("thorough")
    void anOldMasterThatGoesOnIsNotBelieved() throws Exception {
        try (RedisCluster replicated = OrSkip.orSkip(() -> RedisCluster.start(3, 1));
                LockClient one = LockClient.connect("redis-cluster://" + replicated.hosts() + "?timeout=1s")) {
            int slot = replicated.slot("holdfast:{a}");
            RedisServer master = replicated.master(slot);
            long before = token(one);
            replicated.awaitOffset(master);
            master.process().stop();
            Rig.until("a replica to be the master", () -> replicated.isServedBesides(slot, master));
            Rig.until("the lock to be had there", () -> tryToken(one) > before);
            long between = tryToken(one);

            master.process().cont();
            Rig.until("it to be a replica", () -> replicated.isReplica(master));

            assertThat(token(one)).isGreaterThan(between);
        }
    }

    private static long token(LockClient client) throws InterruptedException {
        try (Hold hold = client.lock("a").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
            return hold.token();
        }
    }

    private static long tryToken(LockClient client) {
        try (Hold hold = client.lock("a").tryAcquire().orElseThrow()) {
            return hold.token();
        } catch (dev.holdfast.StoreUnavailableException notYet) {
            return 0;
        }
    }

    private String url() {
        return "redis-cluster://" + cluster.hosts();
    }

    private RedisServer another(int slot) {
        RedisServer owner = cluster.master(slot);
        return cluster.nodes().stream()
                .filter(node -> node != owner)
                .findFirst()
                .orElseThrow();
    }
}
