package dev.holdfast;

import static dev.holdfast.internal.Durations.text;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How holds of a lock behave. Immutable; each method with an argument returns a changed copy.
 *
 * <pre>{@code
 * HoldOptions options = HoldOptions.defaults().lease(Duration.ofSeconds(10)).maxHold(Duration.ofMinutes(5));
 * DistributedLock lock = client.lock("order:42", options);
 * }</pre>
 *
 * <p>Equal when all options are.
 */
public final class HoldOptions {
    private static final Duration SMALLEST_LEASE = Duration.ofMillis(100);
    private static final Duration LARGEST_LEASE = Duration.ofDays(7);
    private static final Duration LONGEST_HAND_OVER = Duration.ofMinutes(1);
    /** The tokens of a grant number: 1,024, one for the hold that was granted and one for each hand-over. */
    private static final int MOST_HAND_OVERS = 1023;

    private static final Duration LONGEST_RETENTION = Duration.ofHours(1);
    private static final HoldOptions DEFAULTS = new HoldOptions(new Values());

    private final Values values;

    private HoldOptions(Values values) {
        this.values = values;
    }

    /** The defaults: lease 30 s, renewed, at most 64 hand-overs or 5 ms, everything else off. */
    public static HoldOptions defaults() {
        return DEFAULTS;
    }

    /**
     * How long the store keeps a grant that is not renewed; 30 s unless set. It bounds how long others wait after a
     * crash.
     */
    public Duration lease() {
        return values.lease;
    }

    /**
     * With another {@link #lease() lease}.
     *
     * @param value 100 ms to 7 days
     * @throws IllegalArgumentException if it is not
     */
    public HoldOptions lease(Duration value) {
        require(
                value.compareTo(SMALLEST_LEASE) >= 0 && value.compareTo(LARGEST_LEASE) <= 0,
                () -> "the lease must be " + text(SMALLEST_LEASE) + " to " + text(LARGEST_LEASE) + ", not "
                        + text(value));
        return with(changed -> changed.lease = value);
    }

    /**
     * Whether an open hold is renewed every third of its lease; on unless set. Off, the hold ends with its lease unless
     * {@link Hold#extend} is called.
     */
    public boolean autoRenew() {
        return values.autoRenew;
    }

    /** With {@link #autoRenew() renewal} on or off. */
    public HoldOptions autoRenew(boolean value) {
        return with(changed -> changed.autoRenew = value);
    }

    /** The time after which renewal stops, so that a hung holder cannot keep the lock for ever; none unless set. */
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(values.maxHold);
    }

    /**
     * With a {@link #maxHold() maximum hold time}.
     *
     * @param value at least 100 ms
     * @throws IllegalArgumentException if it is less
     */
    public HoldOptions maxHold(Duration value) {
        require(
                value.compareTo(SMALLEST_LEASE) >= 0,
                () -> "the maximum hold time must be at least " + text(SMALLEST_LEASE) + ", not " + text(value));
        return with(changed -> changed.maxHold = value);
    }

    /** Without a {@link #maxHold() maximum hold time}. */
    public HoldOptions noMaxHold() {
        return with(changed -> changed.maxHold = null);
    }

    /** How often a grant may be handed to the next local waiter without asking the store; 64 unless set. */
    public int maxHandOvers() {
        return values.maxHandOvers;
    }

    /** For how long a grant may be handed over without asking the store; 5 ms unless set. */
    public Duration maxHandOverTime() {
        return values.maxHandOverTime;
    }

    /**
     * With other bounds of hand-over: a number of times and a time, whichever comes first; readers are bound by the time alone.
     *
     * @param times 0 to 1023
     * @param time 0 to 1 min
     * @throws IllegalArgumentException if one of them is not
     */
    public HoldOptions handOver(int times, Duration time) {
        require(
                times >= 0 && times <= MOST_HAND_OVERS,
                () -> "hand-overs must be 0 to " + MOST_HAND_OVERS + ", not " + times);
        require(
                !time.isNegative() && time.compareTo(LONGEST_HAND_OVER) <= 0,
                () -> "the hand-over time must be 0s to " + text(LONGEST_HAND_OVER) + ", not " + text(time));
        return with(changed -> {
            changed.maxHandOvers = times;
            changed.maxHandOverTime = time;
        });
    }

    /**
     * Whether every change of holder goes through the store's queue; off unless set. Slower and fairer. Clients are served
     * in the order in which the store received their claims. Each client has one claim there at a time.
     */
    public boolean strictFifo() {
        return values.strictFifo;
    }

    /** With {@link #strictFifo() strict order} on or off. */
    public HoldOptions strictFifo(boolean value) {
        return with(changed -> changed.strictFifo = value);
    }

    /** Whether {@link Hold#close()} waits until the store has confirmed the release; off unless set. */
    public boolean awaitRelease() {
        return values.awaitRelease;
    }

    /** With {@link #awaitRelease() waiting for the release} on or off. */
    public HoldOptions awaitRelease(boolean value) {
        return with(changed -> changed.awaitRelease = value);
    }

    /**
     * How long the client retains a lock that none of its callers uses, so that acquiring it again sends no request; zero
     * (off) by default.
     */
    public Duration retain() {
        return values.retain;
    }

    /**
     * With another time to {@link #retain() retain} an unused lock.
     *
     * <p>When the last local hold closes and no other caller waits, the client retains the grant and renews it with the
     * others. Acquiring the lock again then costs no request; the token rises by one. The client releases the lock when it
     * has not been used for this long, and as soon as another client waits for it: immediately if no hold is open,
     * otherwise when the hold closes. A {@link DistributedLock#tryAcquire()} of another client does not wait, so it finds
     * the lock held; use {@link DistributedLock#tryAcquire(Duration)} there. On SQL databases and in the embedded store,
     * this client may not notice a wait shorter than about 100 ms, plus 20 ms for each 256 locks that it watches.
     *
     * <pre>{@code
     * HoldOptions options = HoldOptions.defaults().retain(Duration.ofSeconds(10));
     * DistributedLock mine = client.lock("shard:7", options);
     * }</pre>
     *
     * <p>A client retains 10,000 locks at most, and releases the one used least recently for the next. Status and lists
     * show a retained lock as held. If the process stops or dies, others wait until the lease ends. Only single exclusive
     * locks are retained, with {@link #autoRenew() renewal}, without {@link #strictFifo() strict order}, with hand-over
     * and without {@link #awaitRelease() waiting for the release}, on a store that {@link Capabilities#wanted() reports}
     * when a lock is wanted; everything else is refused when the lock is built.
     *
     * @param value 0 s to 1 hour; 0 s for not at all
     * @throws IllegalArgumentException if it is not
     */
    public HoldOptions retain(Duration value) {
        require(
                !value.isNegative() && value.compareTo(LONGEST_RETENTION) <= 0,
                () -> "the time to retain a lock must be 0s to " + text(LONGEST_RETENTION) + ", not " + text(value));
        return with(changed -> changed.retain = value);
    }

    /**
     * Whether a thread that holds the lock may acquire it again immediately; off unless set. Such holds belong to the
     * thread that acquired them and close on it alone.
     */
    public boolean reentrant() {
        return values.reentrant;
    }

    /** With {@link #reentrant() re-entry} on or off. */
    public HoldOptions reentrant(boolean value) {
        return with(changed -> changed.reentrant = value);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof HoldOptions options && values.asList().equals(options.values.asList());
    }

    @Override
    public int hashCode() {
        return values.asList().hashCode();
    }

    @Override
    public String toString() {
        return "HoldOptions[lease=" + text(values.lease)
                + ", autoRenew=" + values.autoRenew
                + ", maxHold=" + maxHold().map(most -> text(most)).orElse("none")
                + ", handOver=" + values.maxHandOvers + " or " + text(values.maxHandOverTime)
                + ", strictFifo=" + values.strictFifo
                + ", awaitRelease=" + values.awaitRelease
                + ", reentrant=" + values.reentrant
                + ", retain=" + text(values.retain) + "]";
    }

    private HoldOptions with(Consumer<Values> change) {
        Values changed = new Values(values);
        change.accept(changed);
        return new HoldOptions(changed);
    }

    /** The message is made only when it is needed: options are made for every acquire by some callers. */
    private static void require(boolean ok, Supplier<String> message) {
        if (!ok) {
            throw new IllegalArgumentException(message.get());
        }
    }

    /** All options; changed only while they are copied, before any other code sees them. */
    private static final class Values {
        Duration lease = Duration.ofSeconds(30);
        boolean autoRenew = true;

        @Nullable
        Duration maxHold;

        int maxHandOvers = 64;
        Duration maxHandOverTime = Duration.ofMillis(5);
        boolean strictFifo;
        boolean awaitRelease;
        boolean reentrant;
        Duration retain = Duration.ZERO;

        Values() {}

        Values(Values other) {
            lease = other.lease;
            autoRenew = other.autoRenew;
            maxHold = other.maxHold;
            maxHandOvers = other.maxHandOvers;
            maxHandOverTime = other.maxHandOverTime;
            strictFifo = other.strictFifo;
            awaitRelease = other.awaitRelease;
            reentrant = other.reentrant;
            retain = other.retain;
        }

        List<Object> asList() {
            return List.of(
                    lease,
                    autoRenew,
                    Optional.ofNullable(maxHold),
                    maxHandOvers,
                    maxHandOverTime,
                    strictFifo,
                    awaitRelease,
                    reentrant,
                    retain);
        }
    }
}
