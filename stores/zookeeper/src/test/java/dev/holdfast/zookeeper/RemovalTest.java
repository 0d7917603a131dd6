package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class RemovalTest {
    private final CompletableFuture<Boolean> removed = new CompletableFuture<>();
    private final Removal removal = new Removal(removed);

    @Test
    void allThatAskHearTheAnswer() {
        CompletableFuture<Boolean> first = removal.answer();
        CompletableFuture<Boolean> second = removal.answer();
        removed.complete(true);
        assertThat(first).isCompletedWithValue(true);
        assertThat(second).isCompletedWithValue(true);
        assertThat(removal.answer()).as("asked for after its end").isCompletedWithValue(true);
    }

    @Test
    void aFailureIsTheFailureItself() {
        CompletableFuture<Boolean> answer = removal.answer();
        IllegalStateException failure = new IllegalStateException("refused");
        removed.completeExceptionally(failure);
        assertThat(answer.handle((there, why) -> why).join()).isSameAs(failure);
    }

    @Test
    void nothingIsLeftOfAnswersThatTookTooLong() {
        for (int i = 0; i < 1_000; i++) {
            removal.answer().completeExceptionally(new IllegalStateException("too late"));
        }
        assertThat(removal.waiting()).isZero();
        assertThat(removed.getNumberOfDependents()).isLessThanOrEqualTo(2);
        assertThat(removed).isNotDone();
    }
}
