package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

/** What Lettuce does with a command, in whatever order, is heard once. */
class SentCommandTest {
    private final List<Object> heard = new ArrayList<>();
    private final SentCommand command = new SentCommand(
            CommandType.ECHO,
            List.of("ECHO".getBytes(UTF_8), "hi".getBytes(UTF_8)),
            (answer, failure) -> heard.add(answer == null ? String.valueOf(failure) : new String(answer, UTF_8)));

    @Test
    void itIsWrittenAsTheProtocolSays() {
        ByteBuf buffer = Unpooled.buffer();

        command.encode(buffer);

        assertThat(buffer.toString(UTF_8)).isEqualTo("*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n");
    }

    /** As where the answer to what Lettuce has repeated comes after the end of the first connection. */
    @Test
    void anAnswerAfterAFailureIsNotHeard() {
        assertThat(command.completeExceptionally(new IllegalStateException("broken")))
                .isTrue();
        answer("hi");
        command.cancel();

        assertThat(heard).containsExactly("java.lang.IllegalStateException: broken");
        assertThat(command.isDone()).isTrue();
    }

    @Test
    void norIsAFailureAfterAnAnswer() {
        answer("hi");

        assertThat(command.completeExceptionally(new IllegalStateException("late")))
                .isFalse();
        assertThat(heard).containsExactly("hi");
    }

    @Test
    void anErrorOfTheServerIsAFailure() {
        command.getOutput().setError("NOSCRIPT");
        command.complete();

        assertThat(heard).containsExactly(new RedisCommandExecutionException("NOSCRIPT").toString());
    }

    @Test
    void aCommandThatIsCancelledHasFailed() {
        command.cancel();

        assertThat(heard).containsExactly(new CancellationException().toString());
    }

    @Test
    void whoAsksLaterHearsToo() {
        List<String> others = new ArrayList<>();
        command.onComplete((answer, failure) -> others.add("before"));
        answer("hi");
        command.onComplete((answer, failure) -> others.add("after"));

        assertThat(heard).containsExactly("hi");
        assertThat(others).containsExactly("before", "after");
    }

    /** Lettuce goes on with what it has to do besides. */
    @Test
    void whatThrowsAsItHearsLaterDisturbsNobody() {
        answer("hi");

        assertThatCode(() -> command.onComplete((answer, failure) -> {
                    throw new IllegalStateException("of the test");
                }))
                .doesNotThrowAnyException();
    }

    private void answer(String text) {
        command.getOutput().set(ByteBuffer.wrap(text.getBytes(UTF_8)));
        command.complete();
    }
}
