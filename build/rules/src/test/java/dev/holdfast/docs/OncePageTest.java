package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the page on work that runs once, run. */
@Timeout(120)
class OncePageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final Orders orders = new Orders();
    private final List<Long> written = new ArrayList<>();
    private int rebuilt;

    @Test
    void once() {
        // @formatter:off
        // snippet once
        Once report = client.once("report", OnceOptions.every(Duration.ofHours(1)));

        OnceResult result = report.run(turn -> writeReport(turn.token()));     // each server calls this from its timer
        System.out.println(result.message());
        // end
        // @formatter:on
        assertThat(result.ran()).isTrue();
        again(report);
        last();
    }

    private void again(Once report) {
        // @formatter:off
        // snippet onceResult
        OnceResult result = report.run(turn -> writeReport(turn.token()));
        if (result instanceof OnceResult.Skipped skipped) {                    // done, or running elsewhere
            skipped.by().ifPresent(run -> System.out.println(run.who() + " at " + run.began()));
            skipped.until().ifPresent(next -> System.out.println("again from " + next));
        } else if (result instanceof OnceResult.Failed failed) {               // it ran here, and threw
            System.out.println(failed.cause());
        }
        // end
        // @formatter:on
        assertThat(result.ran()).isFalse();
        assertThat(written).hasSize(1);
    }

    private void last() {
        // @formatter:off
        // snippet onceLast
        client.once("report").last().ifPresent(run ->
                System.out.println(run.state() + " by " + run.who() + ", begun " + run.began()));
        List<OnceRun> all = client.onceRuns("*");
        // end
        // @formatter:on
        assertThat(all).hasSize(1);
        forget();
        assertThat(client.onceRuns("*")).isEmpty();
    }

    private void forget() {
        // @formatter:off
        // snippet onceForget
        if (!client.once("report").forget()) {
            System.out.println("the report is being written now");
        }
        // end
        // @formatter:on
    }

    @Test
    void keys() {
        String id = "7";
        for (int i = 0; i < 2; i++) {
            // @formatter:off
            // snippet onceKey
            OnceResult result = client.once("message:" + id, OnceOptions.keptFor(Duration.ofDays(7)))
                    .run(turn -> orders.handle(id));
            // end
            // @formatter:on
            assertThat(result.ran()).isEqualTo(i == 0);
        }
        assertThat(orders.handled).containsExactly("7");
    }

    @Test
    void each() throws InterruptedException {
        // @formatter:off
        // snippet onceEach
        client.lock("rebuild-index").run(hold -> rebuildOwnIndex());
        // end
        // @formatter:on
        assertThat(rebuilt).isEqualTo(1);
    }

    private void writeReport(long token) {
        written.add(token);
    }

    private void rebuildOwnIndex() {
        rebuilt++;
    }

    /** What is done for each message. */
    private static final class Orders {
        final List<String> handled = new ArrayList<>();

        void handle(String id) {
            handled.add(id);
        }
    }
}
