package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void argumentsFlagsAndEnvironmentReachTheProgram(@TempDir Path folder) {
        try (ChildProcess child = ChildJvm.main(Programs.Echo.class)
                .args("two words", "last")
                .flags("-Dcolour=dark blue", "-Xmx64m")
                .environment("GREETING", "good day")
                .withoutEnvironment("JAVA_TOOL_OPTIONS")
                .directory(folder)
                .start()) {
            child.expect("args [two words, last]", SOON);
            child.expect("greeting good day, colour dark blue", SOON);
        }
    }

    @Test
    void whatItSaysOnEitherOutputAndItsExitCodeAreSeen() {
        try (ChildProcess child = ChildJvm.main(Programs.Echo.class.getName()).start()) {
            child.send("höher");
            child.expect("echo höher", SOON);
            child.send("fail");
            child.stderr().expect("failing as told", SOON);
            assertThat(child.waitFor(SOON)).isEqualTo(3);
        }
    }

    @Test
    void anotherClassPathReplacesThatOfThisJvm(@TempDir Path empty) {
        try (ChildProcess child =
                ChildJvm.main(Programs.Echo.class).classPath(empty.toString()).start()) {
            assertThat(child.waitFor(SOON)).isEqualTo(1);
            assertThat(child.stderr().lines()).anyMatch(line -> line.contains("ClassNotFoundException"));
        }
    }

    @Test
    @Tag("thorough")
    void aChildThatPrintsALotNeitherBlocksNorLosesLines() {
        try (ChildProcess child = ChildJvm.main(Programs.Chatter.class).start()) {
            assertThat(child.waitFor(SOON)).isZero();
            List<String> all = IntStream.range(0, Programs.Chatter.LINES)
                    .mapToObj(i -> "line " + i + " of a program that has a lot to say")
                    .toList();
            assertThat(child.stdout().lines()).isEqualTo(all);
            assertThat(child.stderr().lines()).isEqualTo(all);
        }
    }

    @Test
    void aStoppedChildIsProvenStoppedAndGoesOnWhenContinued(@TempDir Path folder) throws Exception {
        MappedByteBuffer counts = Programs.Counter.open(folder.resolve("counts"));
        MappedByteBuffer clock = Programs.Counter.open(folder.resolve("clock"));
        try (ChildProcess child = counter(folder.resolve("counts"));
                ChildProcess other = counter(folder.resolve("clock"))) {
            awaitProgress(counts);
            child.stop();
            List<Long> whenStopped = counts(counts);
            // Time enough to go on is when another process of the same kind went on.
            awaitProgress(clock);
            assertThat(counts(counts)).isEqualTo(whenStopped);
            child.cont();
            awaitProgress(counts);
            assertThat(other.isAlive()).isTrue();
        }
    }

    @Test
    void whatStillLivesWhenTheJvmExitsIsKilledAndDeleted() {
        try (ChildProcess parent = ChildJvm.main(Programs.Parent.class).start()) {
            long child = Long.parseLong(
                    parent.expect(Pattern.compile("child (\\d+)"), SOON).group(1));
            MatchResult server = parent.expect(Pattern.compile("server (\\d+) (.+)"), SOON);
            assertThat(ProcessStates.of(child)).isNotEmpty();
            assertThat(Path.of(server.group(2))).isDirectory();
            parent.send("exit");
            assertThat(parent.waitFor(SOON)).isZero();
            assertThat(ProcessStates.of(child)).isSubsetOf('Z', 'X');
            assertThat(ProcessStates.of(Long.parseLong(server.group(1)))).isSubsetOf('Z', 'X');
            assertThat(Files.exists(Path.of(server.group(2)))).isFalse();
        }
    }

    private static ChildProcess counter(Path file) {
        return ChildJvm.main(Programs.Counter.class).args(file.toString()).start();
    }

    /** Until every thread of it has counted at least ten further. */
    private static void awaitProgress(MappedByteBuffer counts) {
        List<Long> before = counts(counts);
        await().atMost(SOON)
                .until(() -> IntStream.range(0, before.size())
                        .allMatch(i -> counts(counts).get(i) >= before.get(i) + 10));
    }

    private static List<Long> counts(MappedByteBuffer counts) {
        return IntStream.range(0, Programs.Counter.THREADS)
                .mapToObj(i -> counts.getLong(i * Long.BYTES))
                .toList();
    }
}
