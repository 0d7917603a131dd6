package dev.holdfast.cli;

/** What {@code holdfast} exits with, next to the code of the command it ran; 64 to 75 as in sysexits.h. */
final class ExitCode {
    static final int OK = 0;
    /** Of {@code release}: there was nothing to break, or the answer was no. */
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

    private ExitCode() {}

    /** What a shell reports for a process that a signal ended. */
    static int ofSignal(int number) {
        return SIGNALLED + number;
    }
}
