package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No random bytes are to be had when a claim is to be made behind another one: its waiter hears that. */
class NoIdTest {
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

    static List<Mode> modes() {
        return List.of(Mode.EXCLUSIVE, Mode.permits(1, 2));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void theNextWaiterHearsIt(Mode mode) throws Exception {
        HoldOptions inOrder = HoldOptions.defaults().strictFifo(true);
        List<HoldHandle> theirs = mode.kind() == LockMode.EXCLUSIVE
                ? List.of(rival.acquire(rival.name("a", mode), inOrder))
                : List.of(rival.acquire(rival.name("a", mode), inOrder), rival.acquire(rival.name("a", mode), inOrder));
        CompletableFuture<HoldHandle> first = wait(mode, inOrder);
        CompletableFuture<HoldHandle> second = wait(mode, inOrder);
        exhausted = true;
        theirs.forEach(hold -> hold.close(LockMode.EXCLUSIVE));
        assertThat(first).isDone();
        first.join().close(LockMode.EXCLUSIVE);
        assertThat(second).isCompletedExceptionally();
    }

    private CompletableFuture<HoldHandle> wait(Mode mode, HoldOptions options) {
        return engine.acquireAsync(engine.name("a", mode), options, hold -> hold, hold -> {});
    }
}
