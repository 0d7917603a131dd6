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

    /** In a long run, of this library's locks together: of a fault that takes no time, and of one that waits. */
    private static final int MOST_BITES = 300;

    private static final int BITES = 30;
    /** Not all bite. */
    private static final double SPARE = 1.1;
    /** Locks of this library that are alike, in a long run. */
    private static final int ALIKE = 3;

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
        double wanted = SPARE * (fault.waits() ? BITES : MOST_BITES);
        return new Effort((int) Math.ceil(wanted / (locks * ALIKE)), ALIKE);
    }

    /** For each lock of another library. */
    Effort forPeers(Fault fault) {
        if (length != Length.LONG) {
            return few(fault);
        }
        // After a lost reply most of them wait until a lease is over, too.
        return fault.waits() || fault.needsOwnClients() ? new Effort(BITES / A_FEW, A_FEW) : new Effort(BITES, 1);
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
