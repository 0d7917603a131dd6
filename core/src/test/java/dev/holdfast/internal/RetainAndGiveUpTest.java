package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A caller who comes for a retained lock and gives up in the instant in which it would get it. */
class RetainAndGiveUpTest {
    private static final HoldOptions RETAINED = LocalRace.OPTIONS.retain(Duration.ofMinutes(5));

    private final LocalRace race = new LocalRace();

    private static Waiter caller(boolean waits) {
        return new Waiter(Mode.EXCLUSIVE, RETAINED, waits ? null : Duration.ZERO, false, null, 0, () -> {});
    }

    private HoldHandle use() {
        Waiter user = caller(true);
        race.submit(user);
        HoldHandle hold = LocalRace.holdOf(user);
        hold.close(user.mode.kind());
        return hold;
    }

    private void comeAndGiveUp(boolean waits) {
        Waiter late = caller(waits);
        late.resolve(Waiter.EMPTY); // before the queue could give it the lock, or be told
        race.submit(late);
    }

    private boolean isHeldInStore() {
        return race.store
                .open()
                .status(race.lock.inStore())
                .toCompletableFuture()
                .join()
                .isHeld();
    }

    @Test
    void leavesItRetainedIfItWouldHaveWaited() {
        HoldHandle first = use();

        comeAndGiveUp(true);

        assertThat(isHeldInStore()).isTrue();
        assertThat(use().token()).isEqualTo(first.token() + 1);
    }

    @Test
    void leavesItRetainedIfItTriedOnce() {
        HoldHandle first = use();

        comeAndGiveUp(false);

        assertThat(isHeldInStore()).isTrue();
        assertThat(use().token()).isEqualTo(first.token() + 1);
    }
}
