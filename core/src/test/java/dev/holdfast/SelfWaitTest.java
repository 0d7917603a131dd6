package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that waits for a lock it holds itself. */
@Timeout(120)
class SelfWaitTest {

    @Test
    void isWarnedAboutWithBothPlacesAfterAFewSeconds() throws InterruptedException {
        ManualTime time = new ManualTime();
        try (LogEar log = new LogEar();
                LockClient client = LockClient.builder(new MemoryStore(time).open(time))
                        .time(time)
                        .build()) {
            AtomicReference<Hold> first = new AtomicReference<>();
            Thread thread = waitingForItself(client.lock("a"), first);
            assertThat(log.lines).isEmpty();
            time.advance(Duration.ofSeconds(4));
            assertThat(log.lines)
                    .singleElement()
                    .asString()
                    .hasLineCount(1)
                    .contains("'twice'", "'a'", "mem:", "reentrant(true)")
                    .contains("SelfWaiter.java:" + tests.SelfWaiter.FIRST_LINE)
                    .contains("SelfWaiter.java:" + tests.SelfWaiter.SECOND_LINE);
            first.get().close(); // by another thread: the waiter goes on
            thread.join();
        }
    }

    @Test
    void isWarnedAboutWithThePlaceWhereItWaitsThoughThatOfTheHoldWasNotRecorded() throws InterruptedException {
        ManualTime time = new ManualTime();
        try (LogEar log = new LogEar();
                LockClient client = LockClient.builder(new MemoryStore(time).open(time))
                        .time(time)
                        .build()) {
            client.lock("b").acquire().close(); // the first caller of a client is one of the sample, the second is not
            AtomicReference<Hold> first = new AtomicReference<>();
            Thread thread = waitingForItself(client.lock("a"), first);
            time.advance(Duration.ofSeconds(4));
            assertThat(log.lines)
                    .singleElement()
                    .asString()
                    .contains("SelfWaiter.java:" + tests.SelfWaiter.SECOND_LINE)
                    .contains("acquired at a place that was not recorded by thread 'twice'");
            first.get().close();
            thread.join();
        }
    }

    private static Thread waitingForItself(DistributedLock lock, AtomicReference<Hold> first) {
        Thread thread = new Thread(() -> new tests.SelfWaiter(lock).acquireTwice(first), "twice");
        thread.start();
        await().until(() -> EngineCase.waitsForALock(thread));
        return thread;
    }
}
