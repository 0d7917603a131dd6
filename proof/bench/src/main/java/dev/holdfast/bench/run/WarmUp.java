package dev.holdfast.bench.run;

import java.time.Duration;

/**
 * When a JVM is warm: it has run for a time, has taken many turns, and its compilers have nothing left to do. The same
 * rule holds for every peer, so that none is measured while its code is still interpreted.
 *
 * @param slice how long the JVM runs before it is asked again
 * @param least how long it runs at least
 * @param turns how many turns it takes at least
 * @param compiling the share of a core that its compilers may still take in the last slice
 * @param most when it is given up: where turns are slow, that many never come
 */
record WarmUp(Duration slice, Duration least, long turns, double compiling, Duration most) {
    /** One slice, whatever the JVM does meanwhile: for a glance. */
    static WarmUp glance(Duration slice) {
        return new WarmUp(slice, slice, 0, Double.MAX_VALUE, slice);
    }

    boolean isDone(Duration elapsed, long taken, double share) {
        return elapsed.compareTo(most) >= 0 || elapsed.compareTo(least) >= 0 && taken >= turns && share <= compiling;
    }
}
