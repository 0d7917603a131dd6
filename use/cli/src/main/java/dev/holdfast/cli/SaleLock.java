package dev.holdfast.cli;

import java.util.Locale;

/** What guards the stock in one run of the demo. */
enum SaleLock {
    /** Nothing. */
    NONE,
    /** Java's own monitor: good for the threads of one process, unknown to the others. */
    SYNCHRONIZED,
    /** A lock that all processes share. */
    HOLDFAST;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
