package dev.holdfast.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The environment with which a program was started; on Linux in {@code /proc/PID/environ}. */
final class ProcEnvironment {
    /** Whether a process was started under a hold. */
    enum Answer {
        YES,
        NO,
        /** The process has ended, or is between two programs, where its environment is empty. */
        UNKNOWN
    }

    private ProcEnvironment() {}

    /** Whether the environment has the hold's id; NO of a process that may not be read, UNKNOWN without {@code /proc}. */
    static Answer isUnder(String holdId, long pid) {
        try {
            // Bytes as Latin-1: what is looked for is found as it stands there.
            String entries = new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(pid), "environ")), StandardCharsets.ISO_8859_1);
            if (entries.isEmpty()) {
                return Answer.UNKNOWN;
            }
            return Stream.of(entries.split("\0"))
                            .filter(entry -> entry.startsWith(Held.ID_VARIABLE + "=")
                                    || entry.startsWith(Held.OUTER_IDS_VARIABLE + "="))
                            .anyMatch(entry -> !holdId.isEmpty() && entry.contains(holdId))
                    ? Answer.YES
                    : Answer.NO;
        } catch (AccessDeniedException e) {
            return Answer.NO;
        } catch (IOException e) {
            return Answer.UNKNOWN;
        }
    }
}
