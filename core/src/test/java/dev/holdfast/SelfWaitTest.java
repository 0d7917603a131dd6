package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that waits for a lock it holds itself. */
@Timeout(30)
class SelfWaitTest {

    @Test
    void isWarnedAboutWithBothPlacesAfterAFewSeconds() throws InterruptedException {
        List<String> said = new CopyOnWriteArrayList<>();
        Handler handler = collectingInto(said);
        Logger logger = Logger.getLogger("dev.holdfast");
        logger.addHandler(handler);
        ManualTime time = new ManualTime();
        try (LockClient client =
                LockClient.builder(new MemoryStore(time).open(time)).time(time).build()) {
            AtomicReference<Hold> first = new AtomicReference<>();
            Thread thread = new Thread(() -> new tests.SelfWaiter(client.lock("a")).acquireTwice(first), "twice");
            thread.start();
            await().until(() -> thread.getState() == Thread.State.WAITING);
            assertThat(said).isEmpty();
            time.advance(Duration.ofSeconds(4));
            assertThat(said)
                    .singleElement()
                    .asString()
                    .hasLineCount(1)
                    .contains("'twice'", "'a'", "mem:", "reentrant(true)")
                    .contains("SelfWaiter.java:" + tests.SelfWaiter.FIRST_LINE)
                    .contains("SelfWaiter.java:" + tests.SelfWaiter.SECOND_LINE);
            first.get().close(); // by another thread: the waiter goes on
            thread.join();
        } finally {
            logger.removeHandler(handler);
        }
    }

    private static Handler collectingInto(List<String> said) {
        return new Handler() {
            @Override
            public void publish(LogRecord message) {
                said.add(message.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }
}
