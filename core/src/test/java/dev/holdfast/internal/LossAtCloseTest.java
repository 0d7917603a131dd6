package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Breaking;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A loss that comes in the very moment of the close: between two steps of the engine, where only its parts reach. */
@Timeout(120)
class LossAtCloseTest {
    private static final HoldOptions OPTIONS = HoldOptions.defaults();

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);

    @AutoClose
    private final Engine engine = Engine.open(
            clock -> StoreOpening.of(memory.open(clock), clock),
            Environment.ofThisMachine(time, Runnable::run, null),
            "",
            "",
            List.of(),
            Duration.ofMinutes(1));

    private final LockName name = engine.name("a", Mode.EXCLUSIVE);
    private final List<Loss> told = new CopyOnWriteArrayList<>();
    private HoldHandle hold;

    @BeforeEach
    void acquire() throws InterruptedException {
        hold = engine.acquisition(name, OPTIONS).acquire();
        hold.onLost(told::add);
    }

    @Test
    void aGrantThatTheKeeperLostButHasNotToldOfYetIsALossAtTheClose() throws Exception {
        GrantState grant = hold.hold.grant;
        assertThat(grant.lose(Loss.Cause.NOT_RENEWED_IN_TIME)).isTrue(); // the renewer's first step
        assertThatThrownBy(() -> hold.close(LockMode.EXCLUSIVE)).isInstanceOf(HoldLostException.class);
        grant.lock().grantLost(grant, Loss.Cause.NOT_RENEWED_IN_TIME); // its second, too late
        await().until(() -> !told.isEmpty());
        assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.NOT_RENEWED_IN_TIME);
    }

    @Test
    void theNextWaiterIsServedThen() throws Exception {
        GrantState grant = hold.hold.grant;
        Waiter next = new Waiter(Mode.EXCLUSIVE, OPTIONS, null, false, null, time.nanoTime(), () -> {});
        engine.locks.submit(name, next);
        grant.lose(Loss.Cause.SESSION_ENDED);
        memory.open().release(grant.grant());
        assertThatThrownBy(() -> hold.close(LockMode.EXCLUSIVE)).isInstanceOf(HoldLostException.class);
        assertThat(next.outcome()).isInstanceOf(HoldHandle.class);
        grant.lock().grantLost(grant, Loss.Cause.SESSION_ENDED);
        assertThat(((HoldHandle) next.outcome()).isValid())
                .as("the late second step is about the grant before")
                .isTrue();
    }

    @Test
    void aLossFoundAtTheReleaseIsToldToTheOneWhoClosedThoughAWaiterHadJustGone() {
        Waiter gone = new Waiter(Mode.EXCLUSIVE, OPTIONS, null, false, null, time.nanoTime(), () -> {});
        gone.resolve(Waiter.EMPTY); // gave up, and has not left the queue yet
        engine.locks.submit(name, gone);
        Breaking.shown(memory.open(), "a", true);
        assertThatThrownBy(() -> hold.close(LockMode.EXCLUSIVE)).isInstanceOf(HoldLostException.class);
    }
}
