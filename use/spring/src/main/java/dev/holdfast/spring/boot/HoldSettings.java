package dev.holdfast.spring.boot;

import dev.holdfast.HoldOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of holds; see {@link HoldOptions}.
 *
 * @param lease How long the store keeps a grant that is not renewed, 100ms to 7d.
 * @param autoRenew Whether an open hold is renewed until it is closed.
 * @param maxHold After this long renewal stops, so that a hung holder cannot keep the lock for ever. Default none.
 * @param handOverTime For how long a grant may be handed over without asking the store.
 * @param handOverTimes How often a grant may be handed to the next waiter of this process without asking the store.
 * @param strictFifo Whether every change of holder goes through the store's queue.
 * @param awaitRelease Whether closing a hold waits until the store has confirmed the release.
 * @param reentrant Whether a thread that holds a lock may acquire it again immediately.
 */
public record HoldSettings(
        @DefaultValue("30s") Duration lease,
        @DefaultValue("true") boolean autoRenew,
        @Nullable Duration maxHold,
        @DefaultValue("64") int handOverTimes,
        @DefaultValue("5ms") Duration handOverTime,
        @DefaultValue("false") boolean strictFifo,
        @DefaultValue("false") boolean awaitRelease,
        @DefaultValue("false") boolean reentrant) {

    /** Refuses what {@link HoldOptions} refuses. */
    public HoldSettings {
        options(lease, autoRenew, maxHold, handOverTimes, handOverTime, strictFifo, awaitRelease, reentrant);
    }

    HoldOptions toOptions() {
        return options(lease, autoRenew, maxHold, handOverTimes, handOverTime, strictFifo, awaitRelease, reentrant);
    }

    private static HoldOptions options(
            Duration lease,
            boolean autoRenew,
            @Nullable Duration maxHold,
            int handOverTimes,
            Duration handOverTime,
            boolean strictFifo,
            boolean awaitRelease,
            boolean reentrant) {
        HoldOptions options = HoldOptions.defaults()
                .lease(lease)
                .autoRenew(autoRenew)
                .handOver(handOverTimes, handOverTime)
                .strictFifo(strictFifo)
                .awaitRelease(awaitRelease)
                .reentrant(reentrant);
        return maxHold == null ? options : options.maxHold(maxHold);
    }
}
