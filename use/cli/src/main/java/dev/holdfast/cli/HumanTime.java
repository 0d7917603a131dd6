package dev.holdfast.cli;

import java.time.Duration;

/** Durations for people, in at most two units. */
final class HumanTime {
    private static final int MINUTE = 60;
    private static final int HOUR = 60 * MINUTE;
    private static final int DAY = 24 * HOUR;

    private HumanTime() {}

    static String of(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 1) {
            return Math.max(0, duration.toMillis()) + "ms";
        }
        if (seconds < MINUTE) {
            return seconds + "s";
        }
        if (seconds < HOUR) {
            return seconds / MINUTE + "m " + seconds % MINUTE + "s";
        }
        if (seconds < DAY) {
            return seconds / HOUR + "h " + seconds % HOUR / MINUTE + "m";
        }
        return seconds / DAY + "d " + seconds % DAY / HOUR + "h";
    }
}
