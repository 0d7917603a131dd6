package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A moment grows older while the machine sleeps, and never younger. */
class ElapsedTimeTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Clocks clocks = new Clocks();
    private final ElapsedTime elapsed = ElapsedTime.of(clocks);

    @Test
    void withoutASleepItEqualsNanoTime() {
        Moment moment = elapsed.now();
        clocks.pass(SECOND);

        assertThat(elapsed.since(moment)).isEqualTo(SECOND.toNanos());
        assertThat(clocks.nanoTime() - elapsed.asNanoTime(moment)).isEqualTo(SECOND.toNanos());
    }

    @Test
    void aSleepCounts() {
        Moment moment = elapsed.now();
        clocks.pass(SECOND);
        clocks.moveWallClock(SECOND.multipliedBy(20));
        clocks.pass(SECOND);

        assertThat(elapsed.since(moment)).satisfies(atMostASecondMoreThan(22));
        assertThat(clocks.nanoTime() - elapsed.asNanoTime(moment)).satisfies(atMostASecondMoreThan(22));
    }

    @Test
    void eachSleepCountsOnce() {
        Moment moment = elapsed.now();
        clocks.moveWallClock(SECOND);
        elapsed.now();
        clocks.moveWallClock(SECOND.multipliedBy(2));
        elapsed.now();

        elapsed.now();

        assertThat(elapsed.since(moment))
                .isBetween(
                        SECOND.multipliedBy(3).toNanos(), SECOND.multipliedBy(5).toNanos());
    }

    @Test
    void aWallClockThatIsSetBackMakesNothingYoungerAndHidesNoLaterSleep() {
        Moment moment = elapsed.now();
        clocks.moveWallClock(SECOND.negated());
        assertThat(elapsed.since(moment)).isZero();

        clocks.moveWallClock(SECOND.multipliedBy(20));
        assertThat(elapsed.since(moment)).satisfies(atMostASecondMoreThan(20));
    }

    @Test
    void clockDriftIsNoSleep() {
        Moment moment = elapsed.now();
        clocks.pass(SECOND.multipliedBy(100));
        clocks.moveWallClock(Duration.ofMillis(90));

        assertThat(elapsed.since(moment)).isEqualTo(SECOND.multipliedBy(100).toNanos());
    }

    @Test
    void smallStepsAddUp() {
        Moment moment = elapsed.now();
        for (int i = 0; i < 10; i++) {
            clocks.moveWallClock(Duration.ofMillis(30));
            elapsed.now();
        }

        assertThat(Duration.ofNanos(elapsed.since(moment))).isGreaterThan(Duration.ofMillis(250));
    }

    @Test
    void aThreadThatWaitsBetweenTwoReadingsDoesNotMakeASleep() {
        Moment moment = elapsed.now();
        clocks.stallNextReading(SECOND);
        elapsed.now();

        assertThat(elapsed.since(moment)).isEqualTo(SECOND.toNanos());
    }

    /** Up to 5 ms less, because the wall clock counts whole milliseconds. */
    private static Consumer<Long> atMostASecondMoreThan(long seconds) {
        return nanos -> assertThat(Duration.ofNanos(nanos))
                .isBetween(SECOND.multipliedBy(seconds).minusMillis(5), SECOND.multipliedBy(seconds + 1));
    }

    /** Both stand still until they are moved. */
    private static final class Clocks implements TimeSource {
        private long nanos = -1_000;
        private long wall = 1_000_000;
        private Duration stall = Duration.ZERO;

        void pass(Duration time) {
            nanos += time.toNanos();
            wall += time.toMillis();
        }

        /** After the wall clock is read. */
        void stallNextReading(Duration time) {
            stall = time;
        }

        void moveWallClock(Duration ahead) {
            wall += ahead.toMillis();
        }

        @Override
        public long nanoTime() {
            return nanos;
        }

        @Override
        public long wallMillis() {
            long read = wall;
            pass(stall);
            stall = Duration.ZERO;
            return read;
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            throw new UnsupportedOperationException("nothing is planned");
        }
    }
}
