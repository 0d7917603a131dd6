package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The wall clock runs ahead of {@code nanoTime}, as while a machine sleeps: the servers count on. */
class SleepTest {
    /** The longest that these servers give: a hold is proved every third of it, which is no proof soon. */
    private static final Duration SESSION = Duration.ofSeconds(60);

    private static final Duration SOON = SESSION.dividedBy(4);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final FaultyTime time = new FaultyTime();

    /** The write of the claim proves what was answered before it, which is older by the sleep. */
    @Test
    void aClaimAfterASleepCountsFromBeforeTheSleep() throws Exception {
        try (Store store = open()) {
            store.listen(new IgnoringListener());
            store.release(hold(store)).toCompletableFuture().get(60, TimeUnit.SECONDS);
            Duration sleep = SESSION.dividedBy(2);
            time.moveWallClock(sleep);
            long awake = time.nanoTime();

            Grant grant = hold(store);

            Duration before = Duration.ofNanos(awake - grant.sentNanos());
            assertThat(before).as("all but a tick of it").isGreaterThan(sleep.minusSeconds(1));
        }
    }

    /** Little would be left of its lease. */
    @Test
    void aClaimAfterALongSleepWaitsForAnotherProof() throws Exception {
        try (Store store = open()) {
            store.listen(new IgnoringListener());
            store.release(hold(store)).toCompletableFuture().get(60, TimeUnit.SECONDS);
            time.moveWallClock(SESSION.multipliedBy(3).dividedBy(4));
            long awake = time.nanoTime();

            assertThat(hold(store).sentNanos() - awake).isNotNegative();
        }
    }

    /** As after a lost answer. */
    @Test
    void aGrantThatIsClaimedAgainAfterALongSleepWaitsForAnotherProof() throws Exception {
        try (Store store = open()) {
            store.listen(new IgnoringListener());
            Claim claim = claim();
            Grant first = hold(store, claim);
            time.moveWallClock(SESSION.multipliedBy(3).dividedBy(4));
            long awake = time.nanoTime();

            Grant again = hold(store, claim);

            assertThat(again.number()).isEqualTo(first.number());
            assertThat(again.sentNanos() - awake).isNotNegative();
        }
    }

    @Test
    void aHoldIsProvedAgainSoon() throws InterruptedException {
        try (LockClient client = LockClient.builder(open()).time(time).build();
                Hold hold = client.lock("doubted").acquire()) {
            time.moveWallClock(Duration.ofSeconds(1));

            assertThat(hold.isValid()).as("until the store confirms it").isFalse();
            await().atMost(SOON).until(hold::isValid);
        }
    }

    private Store open() {
        return new ZooKeeperStoreProvider()
                .open(ZooKeeperServers.url(server, SESSION.toSeconds() + "s"), new StoreContext(time));
    }

    private static Claim claim() {
        return new Claim(
                ClaimId.random(), "slept", Mode.EXCLUSIVE, SESSION, true, 0, new Holder("host", 1, "thread", ""));
    }

    private static Grant hold(Store store) throws Exception {
        return hold(store, claim());
    }

    private static Grant hold(Store store, Claim claim) throws Exception {
        return Asked.of(store, claim)
                .answer()
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS)
                .orElseThrow();
    }
}
