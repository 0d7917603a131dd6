package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A release that goes from its queue to the store while a close checks both. */
@Timeout(120)
class CloseOrderTest {
    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private final Engine engine = Engine.open(
            clock -> StoreOpening.of(unansweredReleases(memory.open(clock)), clock),
            Environment.ofThisMachine(time, Runnable::run, null),
            "",
            "",
            List.of(),
            Duration.ofMinutes(1));

    @Test
    void aCloseWaitsForTheReleaseThatLeavesItsQueueBetweenItsTwoLooks() throws Exception {
        HoldHandle hold = engine.acquisition(engine.name("a", Mode.EXCLUSIVE), HoldOptions.defaults())
                .acquire();
        ReleaseSender sender = engine.releaseSender;
        AtomicInteger looks = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        Thread closing = new Thread(() -> {
            sender.awaitQuiet(Duration.ofSeconds(60), () -> {
                if (looks.getAndIncrement() == 0) {
                    hold.close(LockMode.EXCLUSIVE); // the widened gap: all that the queue had is on its way now
                }
                return engine.locks.isEmpty();
            });
            over.set(true);
        });
        closing.start();
        await().until(() -> over.get() || looks.get() > 5);
        assertThat(over).as("the close went on while the release had no answer").isFalse();
        answered.complete(null);
        closing.join();
        assertThat(engine.isQuiet()).isTrue();
        engine.close();
    }

    /** A store whose requests take effect in order, and which answers releases later. */
    private Store unansweredReleases(Store real) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(real, arguments);
                    return method.getName().equals("release")
                            ? answered.thenCompose(now -> (CompletableFuture<?>) answer)
                            : answer;
                });
    }
}
