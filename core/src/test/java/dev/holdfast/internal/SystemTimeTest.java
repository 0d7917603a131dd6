package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.support.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A client's timer needs no thread but the one that it begins with. */
class SystemTimeTest {
    private final AtomicBoolean threads = new AtomicBoolean(true);

    @Test
    void aTimerThatWasStartedRunsItsTasksWhereNoFurtherThreadIsToBeHad() throws Exception {
        try (SystemTime time = time().start()) {
            threads.set(false);
            CountDownLatch ran = new CountDownLatch(1);
            time.schedule(ran::countDown, Duration.ofMillis(1));
            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aTimerWithoutAThreadSaysSoAtItsStartAndNotWhenALockIsAcquired() {
        threads.set(false);
        try (SystemTime time = time()) {
            assertThatThrownBy(time::start).isInstanceOf(InternalError.class);
        }
    }

    private SystemTime time() {
        return new SystemTime(task -> {
            if (!threads.get()) {
                throw new InternalError("no thread to be had");
            }
            return DaemonThreads.daemon("timer", task);
        });
    }
}
