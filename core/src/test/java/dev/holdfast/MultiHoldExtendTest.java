package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A fixed lease of several locks is extended for all of them. */
class MultiHoldExtendTest extends EngineCase {
    private final DistributedMultiLock both = client.multiLock(
            List.of("a", "b"), HoldOptions.defaults().lease(s(10)).autoRenew(false));

    @Test
    void allLocksLastForTheNewLease() throws Exception {
        try (MultiHold hold = both.acquire()) {
            time.advance(s(8));
            hold.extend(s(20));
            assertThat(hold.remaining()).isBetween(s(19), s(20));
            time.advance(s(19));
            assertThat(hold.isValid()).isTrue();
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
            assertThat(rival.lock("b").tryAcquire()).isEmpty();
        }
    }

    @Test
    void oneThatIsLostIsTold() throws Exception {
        MultiHold hold = both.acquire();
        Breaking.shown(rival, "b", true);
        assertThatThrownBy(() -> hold.extend(s(20))).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void withoutAnAnswerNothingIsSureBeyondTheOldLease() throws Exception {
        MultiHold hold = both.acquire();
        line.renews = new HostileStore.RequestLost();
        assertThatThrownBy(() -> hold.extend(s(20))).isInstanceOf(StoreUnavailableException.class);
        assertThat(hold.remaining()).isLessThanOrEqualTo(s(10));
        line.renews = HostileStore.PASS;
        hold.close();
    }

    @Test
    void aHoldThatIsRenewedOrClosedIsNotExtended() throws Exception {
        MultiHold renewed = client.multiLock(List.of("c", "d")).acquire();
        assertThatThrownBy(() -> renewed.extend(s(20))).isInstanceOf(IllegalStateException.class);
        renewed.close();
        MultiHold closed = both.acquire();
        closed.close();
        assertThatThrownBy(() -> closed.extend(s(20))).isInstanceOf(IllegalStateException.class);
    }
}
