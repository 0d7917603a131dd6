package dev.holdfast.sim;

import java.time.Duration;

/**
 * All chance in a schedule, from one seed: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014), written out so that a seed means the same on every JDK.
 */
final class Dice {
    private long state;

    Dice(long seed) {
        state = seed;
    }

    long next() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** 0 to {@code bound} - 1. */
    int below(int bound) {
        return (int) ((next() >>> 1) % bound);
    }

    /** Both ends included. */
    long between(long least, long most) {
        return least + (next() >>> 1) % (most - least + 1);
    }

    boolean percent(int chance) {
        return below(100) < chance;
    }

    @SafeVarargs
    final <T> T of(T... choices) {
        return choices[below(choices.length)];
    }

    /** Nanoseconds, in a range given in microseconds. */
    long micros(long least, long most) {
        return between(least * 1_000, most * 1_000);
    }

    /** Nanoseconds, in a range given in milliseconds. */
    long millis(long least, long most) {
        return micros(least * 1_000, most * 1_000);
    }

    /** Part of a duration, in percent, as nanoseconds. */
    long part(Duration whole, int least, int most) {
        return whole.toNanos() / 100 * between(least, most);
    }
}
