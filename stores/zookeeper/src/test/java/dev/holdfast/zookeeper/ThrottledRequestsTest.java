package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ThrottledRequestsTest {
    private final CompletableFuture<String> first = new CompletableFuture<>();
    private final Error failure = new StackOverflowError("of a test");

    @Test
    void theAnswersAreInTheOrderOfTheirSubjects() {
        CompletableFuture<List<String>> all = ThrottledRequests.ask(
                List.of(0, 1), subject -> subject == 0 ? first : CompletableFuture.completedFuture("second"));

        assertThat(all).isNotDone();
        first.complete("first");

        assertThat(all).isCompletedWithValue(List.of("first", "second"));
    }

    @Test
    void aQuestionThatThrowsIsTheAnswer() {
        assertThat(ThrottledRequests.ask(List.of(0), this::throwing)).isCompletedExceptionally();
    }

    @Test
    void aQuestionThatThrowsWhenItsTurnComesIsTheAnswer() {
        CompletableFuture<List<String>> all =
                ThrottledRequests.ask(1, List.of(0, 1), subject -> subject == 0 ? first : throwing(subject));

        first.complete("first");

        assertThat(all.handle((answers, why) -> why)).isCompletedWithValue(failure);
    }

    private CompletableFuture<String> throwing(int subject) {
        throw failure;
    }
}
