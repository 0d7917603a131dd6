package dev.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command itself, in a process of its own. */
class BenchTest {
    private static final Duration PATIENCE = Duration.ofSeconds(100);

    @TempDir
    private Path folder;

    @Test
    @Tag("thorough")
    void aServerThatIsMissingIsLeftOutAndTheRunSaysSo() {
        try (ChildProcess bench = ChildJvm.main(Bench.class)
                .flags("-Dholdfast.server.mariadbd=/nowhere/mariadbd")
                .args("--quick", "--only", "mariadb", "--out", folder.toString())
                .start()) {
            assertThat(bench.waitFor(PATIENCE)).isZero();
            bench.expect("Left out: MariaDB: mariadbd is missing", PATIENCE);
        }
    }

    @Test
    @Tag("thorough")
    void aQuickRunPrintsItsTablesAndTargetsAndLeavesFiles() {
        try (ChildProcess bench = ChildJvm.main(Bench.class)
                .args("--quick", "--only=mem", "--out=" + folder)
                .start()) {
            assertThat(bench.waitFor(PATIENCE)).as(bench.story()).isZero();
            bench.expect("within one JVM: one lock, 1 process × 16 threads", PATIENCE);
            bench.expect("  holdfast", PATIENCE);
            bench.expect("JVM: Java", PATIENCE);
        }
        assertThat(folder.resolve("results.json")).isNotEmptyFile();
        assertThat(folder.resolve("measured/mem.tsv")).isNotEmptyFile();
        assertThat(folder.resolve("measured/index.html")).isNotEmptyFile();
    }

    @Test
    @Tag("thorough")
    void aServicesPaceRunsAloneAndItsTableShowsWaits() {
        try (ChildProcess bench = ChildJvm.main(Bench.class)
                .args("--quick", "--only=sqlite", "--workload=service-1x16,tries-20", "--out=" + folder)
                .start()) {
            assertThat(bench.waitFor(PATIENCE)).as(bench.story()).isZero();
            bench.expect("SQLite: at a service's pace, 1 process × 16 threads, warm JVM", PATIENCE);
            assertThat(bench.lines()).anyMatch(line -> line.contains("wait p50 ms") && line.contains("not served %"));
            assertThat(bench.lines()).anyMatch(line -> line.contains("refused %"));
            bench.expect("Disk: a forced write of 4 KiB", PATIENCE);
        }
    }

    /** What the launcher shows before the bench is built. */
    @Test
    @Tag("thorough")
    void itsHelpStandsInAFileAsWell() {
        try (ChildProcess bench = ChildJvm.main(Bench.class).args("--help").start()) {
            assertThat(bench.waitFor(PATIENCE)).isZero();
            assertThat(bench.lines()).containsExactlyElementsOf(lines(Path.of("usage.txt")));
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void anUnknownStoreIsRefusedWithTheKnownOnes() {
        try (ChildProcess bench =
                ChildJvm.main(Bench.class).args("--only", "mongodb").start()) {
            assertThat(bench.waitFor(PATIENCE)).isEqualTo(64);
            bench.stderr().expect("holdfast bench: there is no store 'mongodb'", PATIENCE);
        }
    }
}
