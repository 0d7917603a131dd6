package dev.holdfast;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The activity of a client since it was opened, and at present: figures for a log line, a test, or a metrics library to
 * build on. Per client, never per name, so their number is bounded.
 *
 * <p>All figures count from the opening of the client and only grow, except the two gauges {@link #waitingNow} and {@link
 * #heldNow}, and {@link #storeReachable}, which is the present state. Names that end in {@code Nanos} are sums of times
 * in nanoseconds: divided by the count beside them they give means, and their differences between two readings give the
 * mean between those readings. The figures are read one after another while the client works on: a gauge may include
 * holds and waits that ended during the reading, so it may be too high but never too low. When the client is idle, all
 * figures are exact. At any time
 *
 * <pre>{@code acquisitions == releases + losses() + heldNow}</pre>
 *
 * <p>Later versions may add components; read them by their names and do not make or match such records.
 *
 * <pre>{@code
 * ClientStatistics now = client.statistics();
 * registry.gauge("locks.held", now.heldNow());
 * }</pre>
 *
 * @param waits calls that asked for a lock and were prepared to wait
 * @param waitingNow of these, how many wait now (gauge)
 * @param waitNanos how long ended waits took together, however they ended
 * @param acquisitions holds that began, by any call
 * @param handOvers of these, those handed over inside the client, without asking the store for a new grant
 * @param notAcquiredByReason calls that ended without the lock; every reason is there, with zero if it never was
 * @param heldNow how many holds are open now (gauge)
 * @param holdNanos how long ended holds lasted together, however they ended
 * @param releases holds closed by their holders
 * @param failedReleases releases that the store did not confirm
 * @param lossesByCause holds lost while they were open; every cause is there, with zero if it never was
 * @param lateLosses holds that were closed, and that the store then reported as gone before the close; each counts
 *     under {@code releases}, and not under {@code lossesByCause}
 * @param leaks holds that were never closed and that no code could close any more
 * @param suspects how often a hold came to be in doubt
 * @param renewals leases that the store extended, one per hold and renewal
 * @param failedRenewals renewals without an answer, one per hold and try
 * @param claims claims sent to the store
 * @param storeCalls requests sent to the store, claims included
 * @param failedStoreCalls of these, those the store failed or refused
 * @param storeNanos how long the store took to answer, all requests together but claims that wait
 * @param droppedEvents events that no listener received because listeners were too slow
 * @param storeReachable false from a {@link StoreEvent.Unreachable} on until the {@link StoreEvent.Reachable} after it, also
 *     if no listener receives these; true once the client is closed
 */
public record ClientStatistics(
        long waits,
        long waitingNow,
        long waitNanos,
        long acquisitions,
        long handOvers,
        Map<LockEvent.NotAcquired.Reason, Long> notAcquiredByReason,
        long heldNow,
        long holdNanos,
        long releases,
        long failedReleases,
        Map<Loss.Cause, Long> lossesByCause,
        long lateLosses,
        long leaks,
        long suspects,
        long renewals,
        long failedRenewals,
        long claims,
        long storeCalls,
        long failedStoreCalls,
        long storeNanos,
        long droppedEvents,
        boolean storeReachable) {

    public ClientStatistics {
        notAcquiredByReason = Collections.unmodifiableMap(new TreeMap<>(notAcquiredByReason));
        lossesByCause = Collections.unmodifiableMap(new TreeMap<>(lossesByCause));
    }

    /** Holds lost while they were open, for whatever cause. */
    public long losses() {
        return sum(lossesByCause);
    }

    /** Holds lost for one cause while they were open. */
    public long losses(Loss.Cause cause) {
        return lossesByCause.getOrDefault(cause, 0L);
    }

    /** Calls that ended without the lock, for whatever reason. */
    public long notAcquired() {
        return sum(notAcquiredByReason);
    }

    /** Calls that ended without the lock for one reason. */
    public long notAcquired(LockEvent.NotAcquired.Reason reason) {
        return notAcquiredByReason.getOrDefault(reason, 0L);
    }

    private static long sum(Map<?, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
