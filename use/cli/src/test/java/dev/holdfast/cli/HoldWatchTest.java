package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** A hold in doubt is given some time; one that is lost is not. */
class HoldWatchTest {
    private Runnable loss = () -> {};

    private final Held doubtful = new Held() {
        @Override
        public Map<String, String> environment() {
            return Map.of();
        }

        @Override
        public boolean isValid() {
            return false;
        }

        @Override
        public void onLost(Runnable action) {
            loss = action;
        }

        @Override
        public void close() {}
    };

    @Test
    void aDoubtThatLastsIsALoss() {
        // not once in a few times, on a machine that may take a second from one line to the next
        await().atMost(SOON).until(() -> !new HoldWatch(doubtful, null).isLost());
        HoldWatch watch = new HoldWatch(doubtful, null);

        await().atMost(SOON).until(watch::isLost);
    }

    @Test
    void theTimeInWhichNobodyAskedIsNoDoubt() {
        HoldWatch watch = new HoldWatch(doubtful, null);
        await().atMost(SOON).until(watch::isLost);

        await().atMost(SOON).until(() -> {
            watch.resume();
            return !watch.isLost();
        });
    }

    @Test
    void aLossCountsAtOnce() {
        HoldWatch watch = new HoldWatch(doubtful, null);
        loss.run();
        watch.resume();

        assertThat(watch.isLost()).isTrue();
    }
}
