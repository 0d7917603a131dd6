package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** What a claim without an answer may have left is withdrawn for as long as it may be there. */
class WithdrawnClaimTest extends EngineCase {
    private static final HoldOptions AN_HOUR = lease(3_600);
    private static final HoldOptions WEEK = HoldOptions.defaults().lease(Duration.ofDays(7));

    @Test
    void aClaimWithALongLeaseIsWithdrawnAlsoAfterAnOutageOfMinutes() throws InterruptedException {
        line.claims = new HostileStore.ReplyLost();
        line.withdraws = new HostileStore.RequestLost();
        assertThatThrownBy(() -> client.lock("a", AN_HOUR).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        advance(180, s(1));
        assertThat(rival.lock("a").tryAcquire()).as("in the outage").isEmpty();

        line.passAll();
        advance(180, s(1));

        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aClaimInASessionThatOutlivesTheLeaseIsWithdrawnAfterTheOutage() throws InterruptedException {
        line.caps = capabilities -> HostileStore.with(capabilities, true, true, false);
        failInASession("a");
        advance(180, s(1));
        assertThat(rival.lock("a").tryAcquire()).as("in the outage").isEmpty();

        line.passAll();
        advance(30, s(1));

        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    /** Each is of unknown outcome, and withdrawn in vain. */
    @Test
    void aLongOutageLeavesNoMoreWithdrawalsInMemoryThanABound() {
        CountingTime counting = new CountingTime(time);
        try (LockClient mine = clientOn(line, counting)) {
            failEach(mine, 4_000);
            int few = counting.planned();
            failEach(mine, 12_000);
            assertThat(counting.planned()).isGreaterThan(few).isLessThanOrEqualTo(10_010);
            line.passAll();
            advance(8, Duration.ofDays(1));
            assertThat(counting.planned()).as("once they were answered").isLessThan(10);
        }
    }

    /** The first met the end of the connection, and the last its return: those may have reached the store. */
    @Test
    void theFirstAndTheLastClaimsOfALongOutageAreWithdrawnAfterIt() throws InterruptedException {
        line.withdraws = new HostileStore.RequestLost();
        line.claims = new HostileStore.ReplyLost();
        assertThatThrownBy(() -> client.lock("first", WEEK).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        failEach(client, 12_000);
        line.claims = new HostileStore.ReplyLost();
        assertThatThrownBy(() -> client.lock("last", WEEK).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        advance(60, s(1));

        line.passAll();
        advance(120, s(1));

        assertThat(rival.lock("first").tryAcquire()).hasValueSatisfying(Hold::close);
        assertThat(rival.lock("last").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    /** A withdrawal alone ends what a session has, so none is left out. */
    @Test
    void allClaimsOfALongOutageAreWithdrawnWhereASessionOutlivesTheLease() throws InterruptedException {
        line.caps = capabilities -> HostileStore.with(capabilities, true, true, false);
        failEach(client, 6_000);
        failInASession("between");
        failEach(client, 6_000);
        assertThat(rival.lock("between").tryAcquire()).as("in the outage").isEmpty();

        line.passAll();
        advance(30, s(1));

        assertThat(rival.lock("between").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    /** The first withdrawal may have overtaken the claim. */
    @Test
    void theLaterWithdrawalIsRepeatedToo() throws InterruptedException {
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        line.claimOverride = (claim, answer) -> {
            late.run(() -> Asked.of(line.real, claim).answer());
            answer.failed(new StoreUnavailableException("no answer"));
            return Pending.BRIEFLY;
        };
        assertThatThrownBy(() -> client.lock("a", AN_HOUR).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        late.open.complete(null); // it arrives behind its withdrawal
        line.withdraws = new HostileStore.RequestLost();
        advance(21, s(60));
        assertThat(rival.lock("a").tryAcquire()).isEmpty();

        line.passAll();
        advance(30, s(60));

        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    private void failInASession(String name) {
        line.claimOverride = (claim, answer) -> {
            Asked.of(line.real, ofSession(claim));
            answer.failed(new StoreUnavailableException("reply lost"));
            return Pending.BRIEFLY;
        };
        line.withdraws = new HostileStore.RequestLost();
        assertThatThrownBy(() -> client.lock(name).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        line.claimOverride = null;
    }

    private void failEach(LockClient tries, int times) {
        line.claims = new HostileStore.RequestLost();
        line.withdraws = new HostileStore.RequestLost();
        DistributedLock lock = tries.lock("a", WEEK);
        for (int i = 0; i < times; i++) {
            assertThatThrownBy(lock::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        }
    }

    /** A clock that knows how much is planned. */
    private static final class CountingTime extends ForwardedTime {
        private final Set<Object> planned = ConcurrentHashMap.newKeySet();

        CountingTime(TimeSource time) {
            super(time);
        }

        int planned() {
            return planned.size();
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            Object key = new Object();
            planned.add(key);
            Scheduled scheduled = super.schedule(
                    () -> {
                        planned.remove(key);
                        task.run();
                    },
                    delay);
            return () -> {
                planned.remove(key);
                scheduled.cancel();
            };
        }
    }

    private static Claim ofSession(Claim claim) {
        return new Claim(
                claim.id(), claim.name(), claim.mode(), AN_HOUR.lease(), claim.waits(), claim.floor(), claim.holder());
    }
}
