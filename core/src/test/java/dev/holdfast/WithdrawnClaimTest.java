package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.Asked;
import org.junit.jupiter.api.Test;

/** What a claim without an answer may have left is withdrawn for as long as it may be there. */
class WithdrawnClaimTest extends EngineCase {
    private static final HoldOptions AN_HOUR = lease(3_600);

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
        line.claimOverride = (claim, answer) -> {
            Asked.of(line.real, ofSession(claim));
            answer.failed(new StoreUnavailableException("reply lost"));
            return Pending.BRIEFLY;
        };
        line.withdraws = new HostileStore.RequestLost();
        assertThatThrownBy(() -> client.lock("a").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        advance(180, s(1));
        assertThat(rival.lock("a").tryAcquire()).as("in the outage").isEmpty();

        line.passAll();
        advance(30, s(1));

        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    private static Claim ofSession(Claim claim) {
        return new Claim(
                claim.id(), claim.name(), claim.mode(), AN_HOUR.lease(), claim.waits(), claim.floor(), claim.holder());
    }
}
