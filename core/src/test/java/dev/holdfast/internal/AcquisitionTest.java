package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** An Error on the way from a grant to the future that waits for it. */
class AcquisitionTest {
    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final Engine engine = engine();
    private final Engine rival = engine();

    private Engine engine() {
        return Engine.open(
                clock -> StoreOpening.of(memory.open(clock), clock),
                Environment.ofThisMachine(time, Runnable::run, null),
                "",
                "",
                List.of(),
                Duration.ofMinutes(1));
    }

    @Test
    void aHoldThatMeetsAnErrorAfterItsFutureWasCancelledIsGivenBack() {
        CompletableFuture<CompletableFuture<Object>> asked = new CompletableFuture<>();
        CompletableFuture<Runnable> later = new CompletableFuture<>();
        Executor delayed = later::complete;

        asked.complete(of(engine)
                .acquireAsync(
                        delayed,
                        hold -> {
                            asked.join().cancel(false);
                            throw new OutOfMemoryError();
                        },
                        hold -> {}));
        later.join().run();

        assertThat(asked.join()).isCancelled();
        assertThat(of(rival).tryAcquire()).isPresent();
    }

    private static Acquisition of(Engine client) {
        return client.acquisition(client.name("a", Mode.EXCLUSIVE), HoldOptions.defaults());
    }
}
