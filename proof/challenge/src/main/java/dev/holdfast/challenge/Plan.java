package dev.holdfast.challenge;

import dev.holdfast.challenge.fault.Fault;
import java.time.Duration;
import java.util.Optional;

/**
 * How much is attacked, and what.
 *
 * @param seed from which all that is random is made
 * @param length how often each fault is made
 * @param end when no further round of heats begins, by {@link System#nanoTime()}
 * @param only a cell, of which a word may be {@code *}; all cells if empty
 */
record Plan(long seed, Length length, long end, Optional<String> only) {
    private static final int A_FEW = 10;

    // A long run. One event that bites many locks is one trial, so the bound of a verdict comes from the number of
    // events; more locks than these keep two processors from anything else.

    /** How often a fault is made to this library's locks. */
    private static final int EVENTS = 30;
    /** Of a fault that waits until a lease is over. */
    private static final int LONG_EVENTS = 10;
    /** Of a fault that uses the store up. */
    private static final int STARTS = 5;
    /** This library's locks in a heat; 30 events bite them 300 times, as not all bite. */
    private static final int LOCKS = 12;

    /** How often each lock of another library is to be bitten. */
    private static final int BITES = 30;
    /** Of the same kind at once. */
    private static final int ALIKE = 3;
    /** The same where an event lasts as long as a lease of a minute. */
    private static final int MANY_ALIKE = 10;

    /** How often each fault is made. */
    enum Length {
        /** Once, and those alone that take little time; without other libraries. */
        QUICK,
        /** Some times, again and again until the end. */
        LASTING,
        /** So often that the figures say something. */
        LONG
    }

    /**
     * How often a fault is made in a heat.
     *
     * @param times one after the other
     * @param alike how many locks of each kind it is made to at once
     */
    record Effort(int times, int alike) {}

    static Plan quick(long seed, Optional<String> only) {
        return new Plan(seed, Length.QUICK, System.nanoTime(), only);
    }

    static Plan lasting(Duration length, long seed, Optional<String> only) {
        return new Plan(seed, Length.LASTING, System.nanoTime() + length.toNanos(), only);
    }

    static Plan thorough(long seed, Optional<String> only) {
        return new Plan(seed, Length.LONG, System.nanoTime(), only);
    }

    boolean isQuick() {
        return length == Length.QUICK;
    }

    boolean goesOn() {
        return System.nanoTime() - end < 0;
    }

    /** For so many locks of this library under that fault. */
    Effort forHoldfast(Fault fault, int locks) {
        if (length != Length.LONG) {
            return few(fault);
        }
        int alike = Math.max(1, LOCKS / locks);
        if (fault.usesUp()) {
            return new Effort(STARTS, alike);
        }
        return new Effort(fault.waits() ? LONG_EVENTS : EVENTS, alike);
    }

    /** For each lock of another library. */
    Effort forPeers(Fault fault) {
        if (length != Length.LONG) {
            return few(fault);
        }
        if (fault.needsOwnClients()) {
            // 70 clients, each with its threads, kept two processors busy for longer than the grace for liveness.
            return new Effort(A_FEW, 1);
        }
        int alike = fault.waits() ? MANY_ALIKE : ALIKE;
        return new Effort(BITES / alike, alike);
    }

    private Effort few(Fault fault) {
        if (isQuick()) {
            return new Effort(1, 1);
        }
        return fault.usesUp() ? new Effort(1, ALIKE) : new Effort(A_FEW, 1);
    }

    boolean selects(String cell) {
        if (only.isEmpty()) {
            return true;
        }
        String[] wanted = only.get().split("/", -1);
        String[] words = cell.split("/", -1);
        for (int i = 0; i < wanted.length; i++) {
            if (i >= words.length || !(wanted[i].equals("*") || wanted[i].equals(words[i]))) {
                return false;
            }
        }
        return true;
    }
}
