package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** The calls that leave as one: its answer no longer shows which part was sent before. */
class OutboxTest {
    private final Outbox outbox = new Outbox();
    private final Set<ScriptCall> sent = ConcurrentHashMap.newKeySet();
    private final List<ScriptCall> again = new ArrayList<>();
    private final ScriptCall release = ScriptCall.release("a", ClaimId.random(), Mode.EXCLUSIVE);
    private final ScriptCall claim = ScriptCall.claim("a", true, true, List.of("1 X 2 = me ", "1000", "0"));

    @Test
    void aReleaseAndTheClaimBehindItAreOneCall() {
        outbox.add(release);
        outbox.add(claim);

        assertThat(take()).hasSize(1);
    }

    /** As part of another call its answer would be reported as that of a first try: the lock was lost. */
    @Test
    void aReleaseThatWasSentBeforeStaysByItself() {
        send(release); // as it is sent
        outbox.add(release);
        outbox.add(claim);

        assertThat(take()).containsExactly(release, claim);
    }

    @Test
    void soDoesAClaimThatWasSentBefore() {
        send(claim);
        outbox.add(release);
        outbox.add(claim);

        assertThat(take()).containsExactly(release, claim);
    }

    @Test
    void soDoTheCallsOfTwoLocks() {
        ScriptCall another = ScriptCall.claim("b", true, true, List.of("1 X 2 = me ", "1000", "0"));
        outbox.add(release);
        outbox.add(another);

        assertThat(take()).containsExactly(release, another);
    }

    @Test
    void oneThatIsBackLeavesBeforeThoseThatWereMadeAfterIt() {
        outbox.add(release);
        assertThat(take()).containsExactly(release);
        send(release);
        outbox.add(claim);

        outbox.add(release);

        assertThat(take()).containsExactly(release, claim);
    }

    @Test
    void soDoesAReleaseTogetherWithItsClaim() {
        outbox.add(release);
        outbox.add(claim);
        ScriptCall withdrawal = ScriptCall.withdrawal("a", ClaimId.random(), Mode.EXCLUSIVE, ScriptCall.NO_PLACE);
        List<ScriptCall> both = take();
        assertThat(both).hasSize(1);
        outbox.add(withdrawal);

        both.forEach(outbox::add);

        assertThat(take()).containsExactly(both.get(0), withdrawal);
    }

    @Test
    void whatExceedsThePacketStays() {
        outbox.add(claim);
        outbox.add(release);

        assertThat(outbox.take(sent, again::add, 1)).containsExactly(release);
        assertThat(outbox.take(sent, again::add, 1)).containsExactly(claim);
    }

    private static void send(ScriptCall call) {
        assertThat(call.command(0, 1, false, (text, failure) -> {})).isNotNull();
    }

    private List<ScriptCall> take() {
        return outbox.take(sent, again::add, Integer.MAX_VALUE);
    }
}
