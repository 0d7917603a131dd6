package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.answer;
import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A claim that is repeated under its id, as after a lost answer. */
@Timeout(120)
class RepeatTest {
    private static final int ROUNDS = 3 * Integer.getInteger("holdfast.kit.rounds", 100);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private Store store;
    private Store other;

    @BeforeEach
    void open() {
        store = new ZooKeeperStoreProvider().open(ZooKeeperServers.url(server), new StoreContext(time));
        other = new ZooKeeperStoreProvider().open(ZooKeeperServers.url(server), new StoreContext(time));
    }

    @AfterEach
    void close() {
        store.close();
        other.close();
        time.close();
    }

    @Test
    void aGrantThatWasBrokenIsNotGivenAgainWhileItsLeaseKeepsOthersOut() throws Exception {
        Claim claim = claim("broken", false);
        Grant grant = granted(Asked.of(store, claim));
        assertThat(broken(grant, false)).isTrue();

        assertThat(answer(Asked.of(store, claim).answer())).isEmpty();

        assertThat(answer(Asked.of(other, claim("broken", false)).answer()))
                .as("a rival, while the lease of the broken grant lasts")
                .isEmpty();
        assertThat(answer(Asked.of(other, claim("broken", true)).answer())).isPresent();
    }

    @Test
    void aWaitForAGrantThatWasBrokenLastsUntilItsLeaseHasPassed() throws Exception {
        Claim claim = claim("broken-waits", false);
        Grant grant = granted(Asked.of(store, claim));
        long before = System.nanoTime();
        assertThat(broken(grant, false)).isTrue();

        Claim waiting =
                new Claim(claim.id(), claim.name(), claim.mode(), claim.lease(), true, claim.floor(), claim.holder());
        Grant second = granted(Asked.of(store, waiting));

        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(grant.lease());
        assertThat(second.number()).isGreaterThan(grant.number());
    }

    @Test
    void aClaimThatIsRepeatedWhileItIsBrokenAtOnceIsAnswered() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Claim claim = claim("broken-now", false);
            Grant grant = granted(Asked.of(store, claim));
            var broken = other.breakGrant(grant.name(), grant.number(), true);
            Optional<Grant> again = answer(Asked.of(store, claim).answer());
            assertThat(broken.toCompletableFuture().get(60, TimeUnit.SECONDS)).isTrue();
            again.ifPresent(store::release);
            store.withdraw(claim).toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void aClaimThatIsRepeatedInTheMomentOfItsGrantIsGrantedOnce() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Claim claim = claim("moment-" + round % 10, true);
            List<Asked> all = new ArrayList<>();
            all.add(Asked.of(store, claim));
            while (!all.get(0).answer().isDone()) {
                all.add(Asked.of(store, claim));
            }
            all.add(Asked.of(store, claim));
            Grant grant = granted(all.get(0));
            for (Asked each : all) {
                assertThat(granted(each).number()).as("round " + round).isEqualTo(grant.number());
            }
            assertThat(store.release(grant).toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    private boolean broken(Grant grant, boolean now) throws Exception {
        return other.breakGrant(grant.name(), grant.number(), now)
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
    }
}
