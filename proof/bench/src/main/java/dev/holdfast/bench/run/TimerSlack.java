package dev.holdfast.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Linux wakes a sleeping thread up to 50 µs late on purpose, to save wake-ups. That would be a part of every wait from an
 * intended start, the same for all, and would draw every ratio of short waits towards 1.
 */
final class TimerSlack {
    private static final Path SELF = Path.of("/proc/thread-self");

    private TimerSlack() {}

    /** Lets the calling thread be woken as exactly as the system can; elsewhere than on Linux it does nothing. */
    static void finest() {
        try {
            String link = Files.readSymbolicLink(SELF).toString();
            Files.writeString(Path.of("/proc", link.substring(link.lastIndexOf('/') + 1), "timerslack_ns"), "1");
        } catch (IOException e) {
            // Not Linux, or not allowed: the table of a paced load tells how late its threads began.
        }
    }
}
