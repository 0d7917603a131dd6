package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./holdfast}. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class LauncherTest {
    private static final Path SCRIPT =
            Path.of("..", "holdfast").toAbsolutePath().normalize();
    private static final Duration BUILD = Duration.ofMinutes(8);

    @TempDir
    Path folder;

    @BeforeAll
    static void isBuilt() {
        assumeTrue(Files.isExecutable(SCRIPT), "no ./holdfast here");
        try (ChildProcess first =
                ChildProcess.command(SCRIPT.toString(), "--version").start()) {
            assertThat(first.waitFor(BUILD)).as(first.story()).isZero();
        }
    }

    @Test
    void passesArgumentsAndExitCodeOnAndKeepsQuiet() {
        Cli.Ended ended = Cli.end(start("sh", "-c", "echo \"$1\"; exit 5", "sh", "a  b"));

        assertThat(ended.code()).isEqualTo(5);
        assertThat(ended.out()).containsExactly("a  b");
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void becomesTheRealThingSoThatSignalsArrive() {
        ChildProcess run = start("sh", "-c", "echo parent $PPID; exec sleep 60");
        assertThat(run.expect("parent ", SOON)).isEqualTo("parent " + run.pid());
        run.terminate();

        assertThat(Cli.end(run).code()).isEqualTo(143);
    }

    private ChildProcess start(String... command) {
        return ChildProcess.command(SCRIPT.toString(), "run", "job", "--")
                .args(command)
                .environment("HOLDFAST_STORE", new Cli(folder).store())
                .start();
    }
}
