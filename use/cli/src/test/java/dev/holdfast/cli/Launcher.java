package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The script {@code ./holdfast}, built once before it is tested: its first run may take minutes, and says so. */
final class Launcher {
    private static final Path SCRIPT =
            Path.of("../..", "holdfast").toAbsolutePath().normalize();
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

    /** The jar that it has built. */
    static Path jar() {
        return script().resolveSibling("target/launcher/holdfast.jar");
    }

    /** The options by which it starts the jar quickly: with the archive of loaded classes, where one fits this Java. */
    static List<String> options() {
        String java = System.getProperty("java.version")
                + System.getProperty("java.home").replace('/', '-');
        Path archive = jar().resolveSibling("java-" + java + ".jsa");
        return archive.toFile().length() == 0
                ? List.of("-XX:+UseSerialGC")
                : List.of(
                        "-XX:+UseSerialGC",
                        "-XX:SharedArchiveFile=" + archive,
                        "-Xlog:disable",
                        "-Xlog:all=error:stderr");
    }
}
