package dev.holdfast.cli;

import java.util.List;

/** What {@code holdfast} exits with, next to the code of the command it ran; 64 to 75 as in sysexits.h. */
final class ExitCode {
    static final int OK = 0;
    /** Of {@code break}: there was nothing to break, or the answer was no. */
    static final int NOTHING_BROKEN = 1;

    static final int USAGE = 64;
    static final int STORE_UNAVAILABLE = 69;
    static final int INTERNAL = 70;
    static final int OUTPUT_FAILED = 74;
    static final int NOT_ACQUIRED = 75;
    static final int STALE_TOKEN = 78;
    static final int HOLD_LOST = 79;
    static final int NOT_EXECUTABLE = 126;
    static final int NOT_FOUND = 127;

    private static final int SIGNALLED = 128;

    /** All of them, for people. */
    static final List<Meaning> MEANINGS = List.of(
            new Meaning("the command's own", "It ran; 128 + n when signal n ended it."),
            new Meaning(NOTHING_BROKEN, "Of 'break': nothing was held, or the answer was no."),
            new Meaning(USAGE, "Usage: an option, a name or the store's URL makes no sense."),
            new Meaning(STORE_UNAVAILABLE, "The store is out of reach, or refuses."),
            new Meaning(INTERNAL, "An internal error, or the launcher could not build or start the command line."),
            new Meaning(OUTPUT_FAILED, "Standard output could not be written."),
            new Meaning(NOT_ACQUIRED, "The lock was not acquired in time."),
            new Meaning(STALE_TOKEN, "Of 'fence': a higher token was here before."),
            new Meaning(HOLD_LOST, "The hold was lost and the command stopped."),
            new Meaning(NOT_EXECUTABLE, "The command is not executable."),
            new Meaning(NOT_FOUND, "The command is not found."));

    /** A code, and what it says. */
    record Meaning(String code, String text) {
        Meaning(int code, String text) {
            this(Integer.toString(code), text);
        }
    }

    private ExitCode() {}

    /** What a shell reports for a process that a signal ended. */
    static int ofSignal(int number) {
        return SIGNALLED + number;
    }
}
