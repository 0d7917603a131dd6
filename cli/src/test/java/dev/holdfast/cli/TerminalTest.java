package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** At a terminal, made by script(1): the command has it as if it had been started directly. */
class TerminalTest {
    private static final Path SCRIPT = Path.of("/usr/bin/script");
    private static final String CTRL_C = "\003";

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void storeOfItsOwn() {
        assumeTrue(Files.isExecutable(SCRIPT), "no script(1) here to make a terminal");
        cli = new Cli(folder);
    }

    @Test
    void theCommandReadsTheTerminal() {
        ChildProcess terminal = atTerminal("echo ask; read line < /dev/tty; echo \"got $line\"; tty -s && echo tty");
        terminal.expect("ask", SOON);
        terminal.send("hello");

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(ended.out()).contains("got hello", "tty");
    }

    @Test
    void controlCReachesTheCommandOnceAndItsOwnAnswerCounts() {
        ChildProcess terminal = atTerminal("n=0; trap 'n=$((n + 1)); echo INT $n' INT; echo up; "
                + "while [ $n = 0 ]; do sleep 0.02; done; sleep 0.5; exit $((40 + n))");
        terminal.expect("up", SOON);
        terminal.send(CTRL_C);

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isEqualTo(41);
        assertThat(ended.out().stream().filter(line -> line.contains("INT"))).hasSize(1);
    }

    @Test
    void controlCEndsAnInnocentCommandAsInAShell() {
        ChildProcess terminal = atTerminal("echo up; exec sleep 60");
        terminal.expect("up", SOON);
        terminal.send(CTRL_C);

        assertThat(Cli.end(terminal).code()).isEqualTo(130);
    }

    @Test
    void theDemoShowsBarsThatMove() {
        ChildProcess terminal = terminal(cli, "demo", "--processes", "2", "--tickets", "100");

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out())).contains("[###", "###] sold 100 of 100");
    }

    private ChildProcess atTerminal(String shellCommand) {
        return terminal(cli, "run", "job", "--", "sh", "-c", shellCommand);
    }

    private static ChildProcess terminal(Cli cli, String... args) {
        Stream<String> java = Stream.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName());
        String line = Stream.concat(java, List.of(args).stream())
                .map(word -> "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" ", "exec ", "")); // no shell in between, which would answer Ctrl-C too
        return ChildProcess.command(SCRIPT.toString(), "-qec", line, "/dev/null")
                .environment("HOLDFAST_STORE", cli.store())
                .environment("SHELL", "/bin/sh")
                .withoutEnvironment("JAVA_TOOL_OPTIONS")
                .start();
    }
}
