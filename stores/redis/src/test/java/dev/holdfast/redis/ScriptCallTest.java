package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which answers of a server count. */
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
}
