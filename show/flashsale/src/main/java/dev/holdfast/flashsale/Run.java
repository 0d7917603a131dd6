package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * All that a link says of a run, so that it plays the same way again. What it does not decide is how the threads of the
 * servers take turns.
 *
 * @param guard what keeps orders apart
 * @param stock the number of tickets
 * @param gapMillis how long an order takes between reading the stock and writing it
 * @param buyers their number
 * @param withinMillis the time in which all of them come; 0 for all at once
 * @param fault what happens inside the first order of server 1: pause, kill, cut, or nothing
 * @param seed from which the order and the times of the buyers are drawn
 */
record Run(String guard, int stock, int gapMillis, int buyers, int withinMillis, String fault, int seed) {
    static final int LONGEST = 60_000; // milliseconds
    private static final String NO_FAULT = "";

    /** Refuses what cannot be run on any store. */
    void check() {
        Refused.unless(buyers >= 1 && buyers <= Buyers.MOST, "buyers must be 1 to " + Buyers.MOST);
        Refused.unless(withinMillis >= 0 && withinMillis <= LONGEST, "withinMillis must be 0 to " + LONGEST);
        Refused.unless(seed >= 0, "seed must be 0 to " + Integer.MAX_VALUE);
        Refused.unless(
                fault.equals(NO_FAULT) || armed().isPresent(), "fault must be one of pause, kill, cut, or empty");
    }

    /** The fault, if there is one. */
    Optional<Faults.Fault> armed() {
        return Arrays.stream(Faults.Fault.values())
                .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(fault))
                .findFirst();
    }
}
