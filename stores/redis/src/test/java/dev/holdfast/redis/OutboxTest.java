package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The calls that leave as one: its answer no longer shows which part was sent before. */
class OutboxTest {
    private final Outbox outbox = new Outbox();
    private final ScriptCall release = ScriptCall.release("a", true, List.of("1", "1"));
    private final ScriptCall claim = ScriptCall.claim("a", true, true, List.of("2", "1000", "me", "0"));

    @Test
    void aReleaseAndTheClaimBehindItAreOneCall() {
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll()).hasSize(1);
    }

    /** As part of another call its answer would be reported as that of a first try: the lock was lost. */
    @Test
    void aReleaseThatWasSentBeforeStaysByItself() {
        assertThat(release.isNewTo(this)).isTrue(); // as it is sent
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll()).containsExactly(release, claim);
    }

    @Test
    void soDoesAClaimThatWasSentBefore() {
        assertThat(claim.isNewTo(this)).isTrue();
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll()).containsExactly(release, claim);
    }

    @Test
    void soDoTheCallsOfTwoLocks() {
        ScriptCall another = ScriptCall.claim("b", true, true, List.of("2", "1000", "me", "0"));
        outbox.add(release);
        outbox.add(another);

        assertThat(outbox.takeAll()).containsExactly(release, another);
    }
}
