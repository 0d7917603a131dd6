package dev.holdfast;

import static dev.holdfast.internal.Durations.text;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * How holds of a lock behave. Immutable; every setter-like method returns a changed copy.
 *
 * <pre>{@code
 * HoldOptions options = HoldOptions.defaults().lease(Duration.ofSeconds(10)).maxHold(Duration.ofMinutes(5));
 * DistributedLock lock = client.lock("order:42", options);
 * }</pre>
 *
 * @param lease how long the store keeps a grant that is not renewed, 100 ms to 7 days; default 30 s. It bounds how long
 *     others wait after a crash
 * @param autoRenew whether an open hold is renewed every third of its lease; default on. Off, the hold ends with its
 *     lease unless {@link Hold#extend} is called
 * @param maxHold after this long renewal stops, so that a hung holder cannot keep the lock for ever; default none
 * @param maxHandOvers how often a grant may be handed to the next local waiter without asking the store, 0 to 1023;
 *     default 64
 * @param maxHandOverTime for how long a grant may be handed over without asking the store, 0 to 1 min; default 5 ms
 * @param strictFifo whether every change of holder goes through the store's queue; default off. Slower and fairer
 * @param awaitRelease whether {@link Hold#close()} waits until the store has confirmed the release; default off
 * @param reentrant whether a thread that holds the lock may acquire it again at once; default off. Such holds belong to
 *     the thread that acquired them and close on it alone
 */
public record HoldOptions(
        Duration lease,
        boolean autoRenew,
        Optional<Duration> maxHold,
        int maxHandOvers,
        Duration maxHandOverTime,
        boolean strictFifo,
        boolean awaitRelease,
        boolean reentrant) {
    private static final Duration SMALLEST_LEASE = Duration.ofMillis(100);
    private static final Duration LARGEST_LEASE = Duration.ofDays(7);
    private static final Duration LONGEST_HAND_OVER = Duration.ofMinutes(1);
    private static final int MOST_HAND_OVERS = 1023;
    private static final HoldOptions DEFAULTS = new HoldOptions(
            Duration.ofSeconds(30), true, Optional.empty(), 64, Duration.ofMillis(5), false, false, false);

    public HoldOptions {
        require(
                lease.compareTo(SMALLEST_LEASE) >= 0 && lease.compareTo(LARGEST_LEASE) <= 0,
                () -> "the lease must be " + text(SMALLEST_LEASE) + " to " + text(LARGEST_LEASE) + ", not "
                        + text(lease));
        require(
                maxHold.isEmpty() || maxHold.get().compareTo(SMALLEST_LEASE) >= 0,
                () -> "the maximum hold time must be at least " + text(SMALLEST_LEASE) + ", not "
                        + text(maxHold.orElse(Duration.ZERO)));
        require(
                maxHandOvers >= 0 && maxHandOvers <= MOST_HAND_OVERS,
                () -> "hand-overs must be 0 to " + MOST_HAND_OVERS + ", not " + maxHandOvers);
        require(
                !maxHandOverTime.isNegative() && maxHandOverTime.compareTo(LONGEST_HAND_OVER) <= 0,
                () -> "the hand-over time must be 0s to " + text(LONGEST_HAND_OVER) + ", not " + text(maxHandOverTime));
    }

    /** The defaults: lease 30 s, renewed, at most 64 hand-overs or 5 ms, everything else off. */
    public static HoldOptions defaults() {
        return DEFAULTS;
    }

    /** With another {@link #lease() lease}. */
    public HoldOptions lease(Duration value) {
        return new HoldOptions(
                value, autoRenew, maxHold, maxHandOvers, maxHandOverTime, strictFifo, awaitRelease, reentrant);
    }

    /** With {@link #autoRenew() renewal} on or off. */
    public HoldOptions autoRenew(boolean value) {
        return new HoldOptions(
                lease, value, maxHold, maxHandOvers, maxHandOverTime, strictFifo, awaitRelease, reentrant);
    }

    /** With a {@link #maxHold() maximum hold time}. */
    public HoldOptions maxHold(Duration value) {
        return new HoldOptions(
                lease,
                autoRenew,
                Optional.of(value),
                maxHandOvers,
                maxHandOverTime,
                strictFifo,
                awaitRelease,
                reentrant);
    }

    /** With other bounds of hand-over: a number of times and a time, whichever comes first. */
    public HoldOptions handOver(int times, Duration time) {
        return new HoldOptions(lease, autoRenew, maxHold, times, time, strictFifo, awaitRelease, reentrant);
    }

    /** With {@link #strictFifo() strict order} on or off. */
    public HoldOptions strictFifo(boolean value) {
        return new HoldOptions(
                lease, autoRenew, maxHold, maxHandOvers, maxHandOverTime, value, awaitRelease, reentrant);
    }

    /** With {@link #awaitRelease() waiting for the release} on or off. */
    public HoldOptions awaitRelease(boolean value) {
        return new HoldOptions(lease, autoRenew, maxHold, maxHandOvers, maxHandOverTime, strictFifo, value, reentrant);
    }

    /** With {@link #reentrant() re-entry} on or off. */
    public HoldOptions reentrant(boolean value) {
        return new HoldOptions(
                lease, autoRenew, maxHold, maxHandOvers, maxHandOverTime, strictFifo, awaitRelease, value);
    }

    /** The message is made only when it is needed: options are made for every acquire by some callers. */
    private static void require(boolean ok, Supplier<String> message) {
        if (!ok) {
            throw new IllegalArgumentException(message.get());
        }
    }
}
