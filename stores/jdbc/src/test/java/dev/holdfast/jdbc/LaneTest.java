package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests in a line of their own. */
class LaneTest {
    private static final int THREADS = 4;
    private static final int REQUESTS = 50_000;

    @Test
    void whoeverComesAfterItsEndIsAnsweredHoweverManyComeTogether() {
        Connections none = () -> {
            throw new SQLException("no connection is needed to be refused");
        };
        Lane lane = new Lane(
                new RowTables(new H2Dialect(), JdbcOptions.defaults(), none, "a closed store", System::nanoTime), 0);
        lane.close(table -> true);
        lane.awaitEnd();

        List<CompletableFuture<List<CompletableFuture<Boolean>>>> asked =
                ServerCases.together(THREADS, thread -> ask(lane));

        assertThat(asked.stream().flatMap(each -> each.join().stream()).filter(answer -> !answer.isDone()))
                .as("left without an answer")
                .isEmpty();
    }

    private static List<CompletableFuture<Boolean>> ask(Lane lane) {
        List<CompletableFuture<Boolean>> answers = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            answers.add(lane.ask("look at", "a", table -> true));
        }
        return answers;
    }
}
