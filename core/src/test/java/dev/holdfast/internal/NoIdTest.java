package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No random bytes are to be had when a claim is to be made behind another one: its waiter hears that. */
class NoIdTest {
    private static final HoldOptions OPTIONS = HoldOptions.defaults();

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private volatile boolean exhausted;
    private final Engine engine = open();
    private final Engine rival = open();

    @AfterEach
    void close() {
        exhausted = false;
        engine.close();
        rival.close();
    }

    private Engine open() {
        return Engine.open(
                clock -> StoreOpening.of(memory.open(clock), clock),
                new Environment(
                        time, Runnable::run, Runnable::run, CompletableFuture::join, LockSupport::park, this::nextId),
                "",
                "",
                List.of(),
                Duration.ofMinutes(1));
    }

    private ClaimId nextId() {
        if (exhausted) {
            throw new IllegalStateException("no random bytes");
        }
        return ClaimId.random();
    }

    @Test
    void theNextOneThatWantsAPermitHearsIt() throws Exception {
        List<HoldHandle> theirs = List.of(permit(rival).acquire(), permit(rival).acquire());
        CompletableFuture<HoldHandle> first = permit(engine).acquireAsync(hold -> hold, hold -> {});
        CompletableFuture<HoldHandle> second = permit(engine).acquireAsync(hold -> hold, hold -> {});
        exhausted = true;
        theirs.get(0).close(LockMode.PERMITS);
        assertThat(first).isDone();
        assertThat(second).isCompletedExceptionally();
        first.join().close(LockMode.PERMITS);
        theirs.get(1).close(LockMode.PERMITS);
    }

    private static Acquisition permit(Engine of) {
        return of.acquisition(of.name("a", new Mode.Permits(1, 2)), OPTIONS);
    }
}
