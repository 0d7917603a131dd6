package dev.holdfast.cli;

import java.util.regex.Pattern;

/** Text as one word of a shell's command line, so that advice can be pasted whatever a lock is called. */
final class ShellWord {
    private static final Pattern PLAIN = Pattern.compile("[\\w.:/][\\w.:/-]*");

    private ShellWord() {}

    /** The text itself if a shell takes it as it is, else in single quotes; behind {@code --} if it looks like an option. */
    static String of(String text) {
        String word = PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
        return text.startsWith("-") ? "-- " + word : word;
    }
}
