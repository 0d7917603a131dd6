package dev.holdfast.model;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.Binaries;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The protocol between clients and a store that pushes, checked in every order of events by Spin; see {@code
 * docs/internals/README.md}. Spin is no Maven artefact: without it the test is skipped; in CI it fails.
 */
@Timeout(value = 11, unit = TimeUnit.MINUTES) // longer than the test's own patience, which says more
class ModelTest {
    private static final Path CHECK =
            Path.of("../../proof/model/check").toAbsolutePath().normalize();
    private static final long PATIENCE_MINUTES = 10;

    @TempDir
    Path folder;

    @Test
    @Tag("thorough")
    void theModelHoldsAndTheErrorsPutIntoItAreFound() throws IOException, InterruptedException {
        for (String tool : new String[] {"bash", "spin", "gcc"}) {
            orSkip(() -> Binaries.onThisMachine().find(tool, "apt-get install " + tool));
        }
        Path said = folder.resolve("said");
        Process check = new ProcessBuilder("bash", CHECK.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        boolean ended = end(check);
        System.out.println(Files.readString(said));
        assertThat(ended).as("proof/model/check ends in time").isTrue();
        assertThat(check.exitValue()).as(Files.readString(said)).isZero();
    }

    @Test
    void withoutSpinTheCheckSaysWhatIsMissing() throws IOException, InterruptedException {
        assumeTrue(isInstalled("bash"), "bash is not installed");
        Path said = folder.resolve("said");
        ProcessBuilder builder = new ProcessBuilder(find("bash").toString(), CHECK.toString());
        builder.environment().put("PATH", toolsWithout("spin").toString());
        Process check =
                builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
        assertThat(end(check)).as("proof/model/check ends in time").isTrue();
        assertThat(Files.readString(said)).contains("spin is not installed");
        assertThat(check.exitValue()).isEqualTo(3);
    }

    /** A folder for PATH with what the script needs before it looks for Spin. */
    private Path toolsWithout(String missing) throws IOException {
        Path tools = Files.createDirectory(folder.resolve("without-" + missing));
        Files.createSymbolicLink(tools.resolve("dirname"), find("dirname"));
        return tools;
    }

    /** Waits for its end, and enforces it; false if it had to. */
    private static boolean end(Process process) throws InterruptedException {
        try {
            return process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static boolean isInstalled(String tool) {
        return candidates(tool).anyMatch(Files::isExecutable);
    }

    private static Path find(String tool) {
        return candidates(tool).filter(Files::isExecutable).findFirst().orElseThrow();
    }

    private static Stream<Path> candidates(String tool) {
        String path = System.getenv("PATH");
        return Stream.of((path == null ? "" : path).split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry, tool));
    }
}
