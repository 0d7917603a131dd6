package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Which answers of a server count, and who hears of them. */
class ScriptCallTest {
    private static final byte[] GRANT = "+1".getBytes(UTF_8);
    private static final long GREETED = 7;

    private final ScriptCall call = ScriptCall.of(Script.QUORUM_CLAIM, "order:42", List.of());
    private final CompletableFuture<ScriptCall.Answer> answer = Rig.answerOf(call);

    @Test
    void whatAServerGrantsOnAConnectionOnWhichItWasNotGreetedDoesNotCount() {
        call.validOn(GREETED);
        call.answered(GRANT, GREETED + 1);

        assertThatThrownBy(() -> Rig.get(answer)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void whatItGrantsOnTheConnectionOnWhichItWasGreetedCounts() {
        call.validOn(GREETED);
        call.answered(GRANT, GREETED);

        assertThat(Rig.get(answer).text()).isEqualTo("+1");
    }

    /** As with an OutOfMemoryError: nobody else would tell it what came of the call. */
    @Test
    void whatThrowsAsItHearsIsToldAgain() {
        List<String> heard = new ArrayList<>();
        call.tell((said, failure) -> {
            heard.add(said == null ? String.valueOf(failure) : said.text());
            if (heard.size() == 1) {
                throw new OutOfMemoryError("of the test");
            }
        });

        call.answered(GRANT, GREETED);
        call.fail(new IllegalStateException("late"));

        assertThat(heard).containsExactly("+1", "+1");
    }

    @Test
    void whatThrowsEachTimeIsNotToldForEver() {
        AtomicInteger told = new AtomicInteger();
        call.tell((said, failure) -> {
            told.incrementAndGet();
            throw new OutOfMemoryError("of the test");
        });

        call.answered(GRANT, GREETED);

        assertThat(told.get()).isBetween(2, 10);
        assertThat(call.isDone()).isTrue();
    }

    /** Neither a release nor a claim waits for ever. */
    @Test
    void anAnswerToTwoCallsThatNobodyCanReadIsAFailureOfBoth() {
        ScriptCall release = ScriptCall.release("order:42", ClaimId.random(), Mode.EXCLUSIVE);
        CompletableFuture<ScriptCall.Answer> released = Rig.answerOf(release);
        ScriptCall claim = ScriptCall.claim("order:42", true, true, List.of());
        CompletableFuture<ScriptCall.Answer> claimed = Rig.answerOf(claim);

        release.with(claim, alone -> {}).answered(new byte[0], GREETED);

        assertThat(released).isCompletedExceptionally();
        assertThat(claimed).isCompletedExceptionally();
    }

    @Test
    void aClaimThatIsToBeSentByItselfIsSoThoughThatThrowsOnce() {
        ScriptCall release = ScriptCall.release("order:42", ClaimId.random(), Mode.EXCLUSIVE);
        CompletableFuture<ScriptCall.Answer> released = Rig.answerOf(release);
        ScriptCall claim = ScriptCall.claim("order:42", true, true, List.of());
        AtomicInteger tries = new AtomicInteger();
        List<ScriptCall> alone = new ArrayList<>();
        ScriptCall both = release.with(claim, one -> {
            if (tries.incrementAndGet() == 1) {
                throw new OutOfMemoryError("of the test");
            }
            alone.add(one);
        });

        both.answered("1?".getBytes(UTF_8), GREETED);

        assertThat(Rig.get(released).text()).isEqualTo("1");
        assertThat(alone).containsExactly(claim);
    }
}
