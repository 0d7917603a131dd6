package dev.holdfast.challenge;

import java.time.Duration;
import java.util.Optional;

/**
 * How long the challenge goes on, and what it attacks.
 *
 * @param seed from which all that is random is made
 * @param times how often each fault is made in a heat
 * @param end when no further round of heats begins, by {@link System#nanoTime()}
 * @param hasPeers whether other libraries are attacked too
 * @param only a cell, of which a word may be {@code *}; all cells if empty
 */
record Plan(long seed, int times, long end, boolean hasPeers, Optional<String> only) {
    static Plan quick(long seed, Optional<String> only) {
        return new Plan(seed, 1, System.nanoTime(), false, only);
    }

    static Plan lasting(Duration length, long seed, Optional<String> only) {
        return new Plan(seed, 10, System.nanoTime() + length.toNanos(), true, only);
    }

    boolean goesOn() {
        return System.nanoTime() - end < 0;
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
