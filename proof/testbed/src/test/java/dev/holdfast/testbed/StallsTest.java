package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class StallsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final long LONG = Duration.ofMillis(300).toNanos();
    private static final long SHORT = Duration.ofMillis(20).toNanos();

    @Test
    void aGapCountsForWhatBeganBeforeItsEndAndAShorterOneForWhatBeganLater() {
        long began = System.nanoTime();
        try (Stalls stalls = Stalls.watch()) {
            stalls.witness(() -> pass(LONG));

            // Again where a busy machine stands still meanwhile.
            assertThat(Await.until(PATIENCE, () -> longestOfAShortWrite(stalls) < LONG))
                    .isTrue();
            assertThat(longestOfAShortWrite(stalls)).isGreaterThanOrEqualTo(SHORT);
            assertThat(stalls.longestSince(began)).isGreaterThanOrEqualTo(LONG);
            assertThat(stalls.longest()).isGreaterThanOrEqualTo(LONG);
        }
    }

    @Test
    void gapsBesideMuchOtherWorkAddUp() {
        AtomicBoolean worked = new AtomicBoolean();
        try (Stalls stalls = Stalls.watch()) {
            for (int i = 0; i < 20 * Runtime.getRuntime().availableProcessors(); i++) {
                Thread work = new Thread(() -> {
                    while (!worked.get()) {
                        Thread.onSpinWait();
                    }
                });
                work.setDaemon(true);
                work.start();
            }
            assertThat(Await.until(PATIENCE, () -> stalls.late() > 2 * stalls.longest()))
                    .isTrue();
        } finally {
            worked.set(true);
        }
    }

    private static long longestOfAShortWrite(Stalls stalls) {
        long before = System.nanoTime();
        stalls.witness(() -> pass(SHORT));
        return stalls.longestSince(before);
    }

    private static void pass(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
