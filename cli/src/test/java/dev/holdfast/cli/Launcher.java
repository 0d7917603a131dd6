package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The script {@code ./holdfast}, built once before it is tested: its first run may take minutes, and says so. */
final class Launcher {
    private static final Path SCRIPT =
            Path.of("..", "holdfast").toAbsolutePath().normalize();
    private static final Duration BUILD = Duration.ofMinutes(8);

    private Launcher() {}

    private static final class Built {
        private static final boolean YES = build();

        private static boolean build() {
            try (ChildProcess first =
                    ChildProcess.command(SCRIPT.toString(), "--version").start()) {
                assertThat(first.waitFor(BUILD)).as(first.story()).isZero();
                return true;
            }
        }
    }

    /** Where it lies; the test that asks is skipped where there is none. */
    static Path script() {
        assumeTrue(Files.isExecutable(SCRIPT), "no ./holdfast here");
        assertThat(Built.YES).isTrue();
        return SCRIPT;
    }
}
