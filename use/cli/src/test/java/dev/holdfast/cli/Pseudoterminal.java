package dev.holdfast.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Programs at a terminal, which script(1) of util-linux makes; what is sent is typed. */
final class Pseudoterminal {
    static final String CTRL_C = "\003";
    static final String CTRL_Z = "\032";
    static final String CTRL_BACKSLASH = "\034";
    private static final Path SCRIPT = Path.of("/usr/bin/script");

    private Pseudoterminal() {}

    /** {@code holdfast} itself as the program of the terminal: no shell in between, which would answer Ctrl-C too. */
    static ChildProcess holdfast(Cli cli, String... args) {
        return start(cli, "exec \"$HOLDFAST\" " + quoted(args));
    }

    /** A shell with job control, as after a log-in. */
    static ChildProcess shell(Cli cli) {
        return start(cli, "exec bash --norc --noprofile -i");
    }

    /** A line for sh, run at a terminal; the test is skipped where there is no script(1). */
    static ChildProcess start(Cli cli, String line) {
        assumeTrue(Files.isExecutable(SCRIPT), "no script(1) here to make a terminal");
        return cli.shell(SCRIPT.toString(), "-qec", line, "/dev/null")
                .environment("SHELL", "/bin/sh")
                .environment("TERM", "dumb")
                .environment("PS1", "")
                .start();
    }

    private static String quoted(String... args) {
        return List.of(args).stream()
                .map(word -> "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }
}
