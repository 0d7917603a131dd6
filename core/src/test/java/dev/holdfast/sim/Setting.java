package dev.holdfast.sim;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Mode;
import java.time.Duration;

/**
 * The kind of world a schedule plays in; thrown with its first dice.
 *
 * @param machines how many client machines
 * @param names how many locks they fight for
 * @param use what the names are used for
 * @param permits how many permits a semaphore has
 * @param callers how many callers on each machine
 * @param rounds how often each of them wants a lock
 * @param lease the usual lease; everything else is in proportion to it
 * @param autoRenew whether holds are renewed, as a rule
 * @param strictFifo whether all ask for strict order
 * @param awaitRelease whether closing waits for the store
 * @param mixed whether callers differ in their options
 * @param owners whether one caller on each machine is a thread that owns what it holds
 * @param impatient how many of a hundred waits are given up
 * @param ordered whether the store promises that requests take effect in order, and the network keeps it
 * @param extendable whether the store gives fresh numbers
 * @param timeout how long the store's client waits for an answer
 * @param pollNanos how often, about, a waiting claim is sent again
 * @param trouble how many of a hundred messages meet with something
 * @param faults how many things befall machines and server
 * @param weakness what the server may do that no store is safe against
 * @param sleeps whether machines sleep; their wall clocks are then never set back, which would hide it
 * @param chaos for how long all this goes on, in nanoseconds
 */
record Setting(
        int machines,
        int names,
        Use use,
        int permits,
        int callers,
        int rounds,
        Duration lease,
        boolean autoRenew,
        boolean strictFifo,
        boolean awaitRelease,
        boolean mixed,
        boolean owners,
        int impatient,
        boolean ordered,
        boolean extendable,
        Duration timeout,
        long pollNanos,
        int trouble,
        int faults,
        Weakness weakness,
        boolean sleeps,
        long chaos) {
    /** Longer than a name that somebody waits for may be held by nobody. */
    private static final int LEASES_RETAINED = 14;

    /** What the names of a schedule are used for. */
    enum Use {
        /** Each is held by one alone. */
        LOCKS,
        /** Each is read by many, or written by one, who may go on reading. */
        READ_WRITE,
        /** Of each some permits are had. */
        SEMAPHORES,
        /** Each is held by one, who may hold others with it. */
        SEVERAL
    }

    /** What befalls some servers, of which documentation says what it costs. */
    enum Weakness {
        /** Nothing of the kind. */
        NONE,
        /** It may come up without its data. */
        FORGETS,
        /** Its clock is set now and then. */
        CLOCK
    }

    /** How a caller wants a name. */
    Mode mode(Dice dice) {
        return switch (use) {
            case LOCKS, SEVERAL -> Mode.EXCLUSIVE;
            case READ_WRITE -> dice.percent(65) ? Mode.SHARED : Mode.EXCLUSIVE;
            case SEMAPHORES -> new Mode.Permits(dice.percent(60) ? 1 : 1 + dice.below(permits), permits);
        };
    }

    static Setting thrown(Dice dice) {
        Duration lease = Duration.ofMillis(dice.of(100, 300, 300, 1_000, 3_000));
        int callers = (int) dice.between(1, 4);
        Use use = dice.of(Use.LOCKS, Use.LOCKS, Use.LOCKS, Use.READ_WRITE, Use.READ_WRITE, Use.SEMAPHORES, Use.SEVERAL);
        return new Setting(
                (int) dice.between(1, 3),
                use == Use.SEVERAL ? (int) dice.between(2, 4) : dice.percent(80) ? 1 : 2,
                use,
                (int) dice.between(1, 4),
                callers,
                (int) dice.between(1, callers > 2 ? 6 : 4),
                lease,
                dice.percent(60),
                dice.percent(10),
                dice.percent(20),
                dice.percent(30),
                use != Use.SEMAPHORES && dice.percent(40),
                dice.of(0, 10, 50),
                dice.percent(50),
                dice.percent(75),
                Duration.ofNanos(dice.part(lease, 20, 150)),
                dice.part(lease, 30, 200),
                dice.of(0, 0, 5, 20),
                (int) dice.between(0, 5),
                dice.of(Weakness.NONE, Weakness.NONE, Weakness.NONE, Weakness.NONE, Weakness.FORGETS, Weakness.CLOCK),
                dice.percent(50),
                dice.part(lease, 200, 600));
    }

    HoldOptions options(Dice dice) {
        HoldOptions options =
                HoldOptions.defaults().lease(lease).autoRenew(autoRenew).strictFifo(strictFifo);
        if (mixed) {
            options = options.lease(Duration.ofNanos(lease.toNanos() * dice.of(1, 1, 2)))
                    .autoRenew(dice.percent(70) == autoRenew);
        }
        if (dice.percent(10)) {
            options = options.maxHold(Duration.ofNanos(Math.max(100_000_000, dice.part(lease, 50, 200))));
        }
        if (retains() && options.autoRenew()) {
            options = options.retain(lease.multipliedBy(LEASES_RETAINED));
        }
        return options.awaitRelease(awaitRelease)
                .handOver(dice.of(0, 1, 3, 64), Duration.ofMillis(dice.of(5, 5, 100, 60_000)));
    }

    /** Whether clients retain locks that nobody uses: in a third of the schedules where they may. */
    boolean retains() {
        return use == Use.LOCKS && !strictFifo && !awaitRelease && pollNanos % 3 == 0;
    }

    /** The longest lease that a caller asks for at first. */
    long longestLease() {
        return lease.toNanos() * 2;
    }

    /** For how long a server that has forgotten everything must stay down: leases may have been made twice as long. */
    long restartDelay() {
        return longestLease() * 2 + lease.toNanos() / 10;
    }
}
