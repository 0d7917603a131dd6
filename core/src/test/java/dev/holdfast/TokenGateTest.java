package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TokenGateTest {
    private final TokenGate gate = new TokenGate("ledger");

    @Test
    void admitsTheSameTokenAgainAndHigherOnes() {
        gate.check(5);
        gate.check(5);
        gate.check(7);
    }

    @Test
    void refusesATokenThatALaterHoldHasOvertaken() {
        gate.check(7);
        assertThatThrownBy(() -> gate.check(6)).isInstanceOfSatisfying(StaleTokenException.class, stale -> {
            assertThat(stale.token()).isEqualTo(6);
            assertThat(stale.admitted()).isEqualTo(7);
            assertThat(stale).hasMessageContaining("ledger");
        });
        gate.check(7);
    }
}
