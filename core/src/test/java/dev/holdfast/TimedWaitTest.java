package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A wait with a time of its own ends that long after the call. */
class TimedWaitTest extends EngineCase {
    @Test
    void theTimeUntilTheClaimIsSentCountsToo() throws Exception {
        Hold held = rival.lock("a").acquire();
        HookedTime hooked = new HookedTime(time);
        try (LockClient slow = clientOn(memory.open(time), hooked)) {
            hooked.once("slept", () -> time.advance(s(1.5)));
            Started<Optional<Hold>> waits =
                    startAndWaitUntilItWaits(() -> slow.lock("a").tryAcquire(s(2)));
            assertThat(hooked.happened).isTrue();

            time.advance(s(0.5));
            soon(waits::isOver);
            assertThat(waits.result()).isEmpty();
        }
        assertThat(held.isValid()).isTrue();
    }

    @Test
    void itIsSoForFuturesToo() {
        Hold held = rival.lock("a").tryAcquire().orElseThrow();
        HookedTime hooked = new HookedTime(time);
        try (LockClient slow = clientOn(memory.open(time), hooked)) {
            hooked.once("slept", () -> time.advance(s(1.5)));
            var waits = slow.lock("a").tryAcquireAsync(s(2));
            assertThat(hooked.happened).isTrue();

            time.advance(s(0.5));
            assertThat(waits).isCompletedWithValue(Optional.empty());
        }
        assertThat(held.isValid()).isTrue();
    }
}
