package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is done by a lambda while a lock is held. */
class RunWhileHeldTest extends EngineCase {
    private final DistributedLock lock = client.lock("a", lease(10));

    @Test
    void anActionRunsWhileTheLockIsHeldAndTheLockIsFreeAfterwards() throws Exception {
        lock.run(hold -> {
            assertThat(hold.isValid()).isTrue();
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
        });
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void theResultOfATaskComesBack() throws Exception {
        long token = lock.call(Hold::token);
        assertThat(token).isPositive();
    }

    @Test
    void whatTheActionThrowsArrivesWithItsTypeAndTheLockIsFree() {
        assertThatThrownBy(() -> lock.run(hold -> {
                    throw new IOException("no paper");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("no paper");
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aLossWhileTheActionRanIsThrownAfterIt() {
        assertThatThrownBy(() -> lock.run(hold -> lose())).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aLossIsSuppressedInWhatTheActionThrew() {
        assertThatThrownBy(() -> lock.call(hold -> {
                    lose();
                    throw new IOException("no paper");
                }))
                .isInstanceOf(IOException.class)
                .satisfies(thrown -> assertThat(thrown.getSuppressed())
                        .hasOnlyElementsOfType(HoldLostException.class)
                        .hasSize(1));
    }

    @Test
    void whereOthersHoldTheLockATimedActionDoesNotRun() throws Exception {
        try (Hold taken = rival.lock("a").acquire()) {
            assertThat(lock.run(Duration.ZERO, hold -> {
                        throw new AssertionError("it ran");
                    }))
                    .isFalse();
            assertThat(lock.call(Duration.ZERO, Hold::token)).isEmpty();
            assertThat(taken.isValid()).isTrue();
        }
        assertThat(lock.run(Duration.ZERO, hold -> assertThat(hold.isValid()).isTrue()))
                .isTrue();
        assertThat(lock.call(Duration.ZERO, Hold::name)).contains("a");
    }

    @Test
    void aTimedTaskThatReturnsNullIsRefusedAndTheLockIsFree() {
        assertThatThrownBy(() -> lock.call(Duration.ZERO, hold -> null).isEmpty())
                .isInstanceOf(NullPointerException.class);
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void semaphoresAndSeveralLocksDoTheSame() throws Exception {
        DistributedSemaphore one = client.semaphore("s", 1);
        one.run(permit -> assertThat(one.tryAcquire()).isEmpty());
        assertThat(one.call(Hold::name)).isEqualTo("s");
        DistributedMultiLock both = client.multiLock(List.of("c", "b"));
        both.run(held -> assertThat(rival.lock("c").tryAcquire()).isEmpty());
        assertThat(both.call(MultiHold::names)).containsExactly("b", "c");
        assertThat(rival.multiLock(List.of("b", "c")).tryAcquire()).hasValueSatisfying(MultiHold::close);
    }

    private void lose() {
        Breaking.shown(rival, "a", true);
        time.advance(s(11)); // its renewal is refused
    }
}
