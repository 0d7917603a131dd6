package dev.holdfast.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether this process is in the foreground of a terminal, which then sends Ctrl-C to our child as well as to us. */
final class Foreground {
    private static final Path STAT = Path.of("/proc/self/stat");
    // Counted after "pid (name)": the name may itself hold blanks and brackets.
    private static final int PROCESS_GROUP = 2;
    private static final int TERMINAL_GROUP = 5;

    private Foreground() {}

    static boolean now() {
        try {
            String stat = Files.readString(STAT, StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", TERMINAL_GROUP + 2);
            return fields[PROCESS_GROUP].equals(fields[TERMINAL_GROUP]);
        } catch (IOException e) {
            return System.console() != null; // no /proc here: the best guess
        }
    }
}
