package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The calls that leave as one: its answer no longer shows which part was sent before. */
class OutboxTest {
    private final Outbox outbox = new Outbox();
    private final SentCalls sent = new SentCalls();
    private final List<ScriptCall> again = new ArrayList<>();
    private final ScriptCall release = ScriptCall.release("a", ClaimId.random(), Mode.EXCLUSIVE);
    private final ScriptCall claim = ScriptCall.claim("a", true, true, List.of("1 X 2 = me ", "1000", "0"));

    @Test
    void aReleaseAndTheClaimBehindItAreOneCall() {
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll(sent, again::add)).hasSize(1);
    }

    /** As part of another call its answer would be reported as that of a first try: the lock was lost. */
    @Test
    void aReleaseThatWasSentBeforeStaysByItself() {
        assertThat(release.command(0, 1, false)).isNotNull(); // as it is sent
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll(sent, again::add)).containsExactly(release, claim);
    }

    @Test
    void soDoesAClaimThatWasSentBefore() {
        assertThat(claim.command(0, 1, false)).isNotNull();
        outbox.add(release);
        outbox.add(claim);

        assertThat(outbox.takeAll(sent, again::add)).containsExactly(release, claim);
    }

    @Test
    void soDoTheCallsOfTwoLocks() {
        ScriptCall another = ScriptCall.claim("b", true, true, List.of("1 X 2 = me ", "1000", "0"));
        outbox.add(release);
        outbox.add(another);

        assertThat(outbox.takeAll(sent, again::add)).containsExactly(release, another);
    }

    @Test
    void aClaimStaysBehindAReleaseThatWillBeBack() {
        outbox.expect(release);
        outbox.add(claim);
        assertThat(outbox.takeAll(sent, again::add)).isEmpty();

        outbox.add(release);

        assertThat(outbox.takeAll(sent, again::add)).hasSize(1);
        assertThat(outbox.isEmpty()).isTrue();
    }

    @Test
    void itDoesNotStayBehindOneThatHasEnded() {
        outbox.expect(release);
        outbox.add(claim);

        release.fail(new IllegalStateException("too late"));

        assertThat(outbox.takeAll(sent, again::add)).containsExactly(claim);
    }
}
