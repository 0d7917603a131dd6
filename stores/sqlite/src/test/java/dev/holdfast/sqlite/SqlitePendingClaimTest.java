package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Answer;
import dev.holdfast.sqlite.ChangePoller.Turn;
import org.junit.jupiter.api.Test;

class SqlitePendingClaimTest {
    private static final long LATER = 1_000_000;
    private static final Turn BEHIND_TWO = new Turn(false, false, 2, LATER);

    private final SqlitePendingClaim claim =
            new SqlitePendingClaim(Rig.claim("order:42"), new Answer((grant, why) -> {}), left -> {}, ended -> {});

    @Test
    void aClaimThatHasJustEnteredIsNewsAndTheSameAgainIsNot() {
        assertThat(claim.moved(BEHIND_TWO)).isTrue();
        assertThat(claim.moved(BEHIND_TWO)).isFalse();
        assertThat(claim.ahead()).isEqualTo(2);
    }

    @Test
    void oneBeforeItThatLeavesIsNews() {
        claim.moved(BEHIND_TWO);
        assertThat(claim.moved(new Turn(false, false, 1, LATER))).isTrue();
    }

    @Test
    void aLockThatBecomesFreeForAnotherIsNews() {
        claim.moved(BEHIND_TWO);
        assertThat(claim.moved(new Turn(false, true, 2, LATER))).isTrue();
        assertThat(claim.moved(BEHIND_TWO)).as("the other has taken it").isTrue();
    }

    @Test
    void itsTurnAndTheLossOfItsPlaceAreNews() {
        claim.moved(BEHIND_TWO);
        assertThat(claim.moved(new Turn(false, false, 2, 0))).isTrue();
        assertThat(claim.moved(Turn.LOST)).isTrue();
    }

    @Test
    void aLeaseThatIsRenewedIsNoNews() {
        claim.moved(BEHIND_TWO);
        assertThat(claim.moved(new Turn(false, false, 2, 30 * LATER))).isFalse();
    }
}
