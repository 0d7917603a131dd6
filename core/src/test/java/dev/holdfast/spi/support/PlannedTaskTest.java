package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PlannedTaskTest {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final ManualTime time = new ManualTime();
    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void manyWhoAskAreServedByOneRun() {
        PlannedTask task = new PlannedTask(time, runs::incrementAndGet);

        task.within(SOON);
        task.within(SOON);
        time.advance(SOON);

        assertThat(runs).hasValue(1);
        assertThat(task.isPlanned()).isFalse();
    }

    @Test
    void aTimerThatFailsOnceIsAskedAgainByTheNext() {
        AtomicInteger asked = new AtomicInteger();
        PlannedTask task = new PlannedTask(failingAtFirst(asked), runs::incrementAndGet);

        assertThatThrownBy(() -> task.within(SOON)).isInstanceOf(OutOfMemoryError.class);
        task.within(SOON);
        time.advance(SOON);

        assertThat(asked).hasValue(2);
        assertThat(runs).hasValue(1);
    }

    @Test
    void aRunMayPlanTheNext() {
        PlannedTask[] task = new PlannedTask[1];
        task[0] = new PlannedTask(time, () -> {
            if (runs.incrementAndGet() < 3) {
                task[0].within(SOON);
            }
        });

        task[0].within(SOON);
        time.advance(Duration.ofSeconds(5));

        assertThat(runs).hasValue(3);
    }

    private TimeSource failingAtFirst(AtomicInteger asked) {
        return new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public long wallMillis() {
                return time.wallMillis();
            }

            @Override
            public Scheduled schedule(Runnable run, Duration delay) {
                if (asked.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                return time.schedule(run, delay);
            }
        };
    }
}
