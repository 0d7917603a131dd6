package dev.holdfast.internal;

import dev.holdfast.ClientStatistics;
import dev.holdfast.LockEvent.NotAcquired.Reason;
import dev.holdfast.Loss;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * The figures of a client. Each is a {@link LongAdder}: adding costs some nanoseconds, also from many threads, and only
 * reading sums up. The gauges are differences of two figures that grow, so nothing can be counted down twice. Thread-safe.
 */
final class Counters {
    final LongAdder waits = new LongAdder();
    final LongAdder endedWaits = new LongAdder();
    final LongAdder waitNanos = new LongAdder();
    final LongAdder acquisitions = new LongAdder();
    final LongAdder handOvers = new LongAdder();
    final LongAdder holdNanos = new LongAdder();
    final LongAdder releases = new LongAdder();
    final LongAdder failedReleases = new LongAdder();
    final LongAdder lateLosses = new LongAdder();
    final LongAdder leaks = new LongAdder();
    final LongAdder suspects = new LongAdder();
    final LongAdder renewals = new LongAdder();
    final LongAdder failedRenewals = new LongAdder();
    final LongAdder claims = new LongAdder();
    final LongAdder storeCalls = new LongAdder();
    final LongAdder failedStoreCalls = new LongAdder();
    final LongAdder storeNanos = new LongAdder();
    final LongAdder droppedEvents = new LongAdder();
    private final Map<Reason, LongAdder> notAcquired = adders(Reason.class);
    private final Map<Loss.Cause, LongAdder> losses = adders(Loss.Cause.class);

    void notAcquired(Reason reason) {
        Objects.requireNonNull(notAcquired.get(reason)).increment();
    }

    void lost(Loss.Cause cause) {
        Objects.requireNonNull(losses.get(cause)).increment();
    }

    /** How many callers wait. */
    long waitingNow() {
        long ended = endedWaits.sum();
        return waits.sum() - ended;
    }

    /** Reads what ended just before what began: no gauge is ever below zero, or below what it was when asked. */
    ClientStatistics read(boolean storeReachable) {
        Map<Loss.Cause, Long> causes = sums(losses, Loss.Cause.class);
        long lost = causes.values().stream().mapToLong(Long::longValue).sum();
        long released = releases.sum();
        long handedOver = handOvers.sum();
        long acquired = acquisitions.sum();
        long endedBefore = endedWaits.sum();
        long begun = waits.sum();
        return new ClientStatistics(
                begun,
                begun - endedBefore,
                waitNanos.sum(),
                acquired,
                handedOver,
                sums(notAcquired, Reason.class),
                acquired - released - lost,
                holdNanos.sum(),
                released,
                failedReleases.sum(),
                causes,
                lateLosses.sum(),
                leaks.sum(),
                suspects.sum(),
                renewals.sum(),
                failedRenewals.sum(),
                claims.sum(),
                storeCalls.sum(),
                failedStoreCalls.sum(),
                storeNanos.sum(),
                droppedEvents.sum(),
                storeReachable);
    }

    private static <E extends Enum<E>> Map<E, LongAdder> adders(Class<E> type) {
        Map<E, LongAdder> adders = new EnumMap<>(type);
        for (E each : type.getEnumConstants()) {
            adders.put(each, new LongAdder());
        }
        return adders;
    }

    private static <E extends Enum<E>> Map<E, Long> sums(Map<E, LongAdder> adders, Class<E> type) {
        Map<E, Long> sums = new EnumMap<>(type);
        adders.forEach((each, adder) -> sums.put(each, adder.sum()));
        return sums;
    }
}
