package dev.holdfast.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The environment with which a program was started; on Linux in {@code /proc/PID/environ}. */
final class ProcEnvironment {
    /** Whether an environment has an entry. */
    enum Answer {
        YES,
        NO,
        /** The process has ended, or is between two programs, where its environment is empty. */
        UNKNOWN
    }

    private ProcEnvironment() {}

    /** Whether a variable has the value there; NO of a process that may not be read, UNKNOWN without {@code /proc}. */
    static Answer has(long pid, String variable, String value) {
        try {
            // Bytes as Latin-1, NUL behind every entry: what is looked for is found as it stands there.
            String entries = new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(pid), "environ")), StandardCharsets.ISO_8859_1);
            if (entries.isEmpty()) {
                return Answer.UNKNOWN;
            }
            return ("\0" + entries).contains("\0" + variable + "=" + value + "\0") ? Answer.YES : Answer.NO;
        } catch (AccessDeniedException e) {
            return Answer.NO;
        } catch (IOException e) {
            return Answer.UNKNOWN;
        }
    }
}
