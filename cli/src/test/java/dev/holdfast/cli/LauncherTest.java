package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./holdfast}, once it has something to run: building it is for the build's own tests. */
class LauncherTest {
    private static final Path SCRIPT =
            Path.of("..", "holdfast").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    @BeforeEach
    void scriptIsThere() {
        assumeTrue(Files.isExecutable(SCRIPT), "no ./holdfast here");
    }

    @Test
    void passesArgumentsAndExitCodeOnAndIsReplacedByTheRealThing() {
        Cli cli = new Cli(folder);
        ChildProcess run = ChildProcess.command(
                        SCRIPT.toString(), "run", "job", "--", "sh", "-c", "echo \"$1\" $PPID; exit 5", "sh", "a  b")
                .environment("HOLDFAST_STORE", cli.store())
                .start();

        long pid = run.pid();
        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(5);
        assertThat(ended.out()).containsExactly("a  b " + pid);
    }
}
