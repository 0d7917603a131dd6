package dev.holdfast.challenge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command itself, in a process of its own. */
class ChallengeTest {
    private static final Duration PATIENCE = Duration.ofMinutes(8);

    private static final int TERMINATED = 143;
    private static final int INVALID = 2;
    private static final int USAGE = 64;

    @TempDir
    private Path folder;

    /** Everyday, the short challenge shows it of all of them. */
    @Test
    @Tag("thorough")
    void aRunOfOneCellShowsThatTheChecksFindWrongLocks() {
        try (ChildProcess challenge = ChildJvm.main(Challenge.class)
                .args("--quick", "--only", "sqlite/holdfast/plain/kill-holder", "--out", folder.toString())
                .start()) {
            challenge.expect("controls: 13 wrong locks caught, no alarm in the right one", PATIENCE);
        }
    }

    @Test
    @Tag("thorough")
    void anInterruptedRunSaysWhatItSawAndLeavesNoProcessAndNoFile() throws IOException {
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        try (ChildProcess challenge = ChildJvm.main(Challenge.class)
                .flags("-Djava.io.tmpdir=" + temporary)
                .args("--only", "sqlite/holdfast/plain/interrupt-waiter", "--minutes", "9")
                .args("--out", folder.toString())
                .start()) {
            challenge.expect(line -> line.contains("sqlite interrupt-waiter: bites"), PATIENCE);
            List<ProcessHandle> workers = ProcessHandle.of(challenge.pid())
                    .orElseThrow()
                    .descendants()
                    .toList();
            challenge.terminate();
            assertThat(challenge.waitFor(PATIENCE)).isEqualTo(TERMINATED);
            challenge.expect("sqlite/holdfast/plain/interrupt-waiter  HELD", PATIENCE);
            challenge.expect("INTERRUPTED", PATIENCE);
            assertThat(workers).isNotEmpty().noneMatch(ProcessHandle::isAlive);
            assertThat(challenge.stderr().lines()).noneMatch(line -> line.contains("Shutdown in progress"));
        }
        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left).noneMatch(file -> file.getFileName().toString().startsWith("holdfast-bench"));
        }
    }

    @Test
    void whatCannotBeAttackedIsRefusedBeforeAnythingIsStarted() {
        assertRefused("there is no store 'mongodb'; there are sqlite, redis", "mongodb");
        assertRefused("there is no cell 'redis/holdfast/plain/flood'", "--only", "redis/holdfast/plain/flood");
        assertRefused("--minutes must be 1 or more", "--minutes", "0");
        assertRefused("--quick, --long are mutually exclusive", "--quick", "--long");
        assertRefused("cannot write to /dev/null/reports", "--quick", "--out", "/dev/null/reports");
        assertRefused("/dev/null is no history of a challenge", "verify", "/dev/null");
        assertRefused("no.history cannot be read", "verify", "no.history");
        assertRefused("no results of a challenge in no-folder", "table", "no-folder");
    }

    @Test
    void aMachineOfOneProcessorIsRefusedBeforeAnythingIsStarted() {
        Path reports = folder.resolve("reports");
        try (ChildProcess challenge = ChildJvm.main(Challenge.class)
                .flags("-XX:ActiveProcessorCount=1")
                .args("--quick", "--out", reports.toString())
                .start()) {
            assertThat(challenge.waitFor(PATIENCE)).isEqualTo(USAGE);
            challenge.stderr().expect("holdfast challenge: needs 2 processors", PATIENCE);
        }
        assertThat(reports).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void withoutACompilerTheClocksAreNotTested() {
        try (ChildProcess challenge = ChildJvm.main(Challenge.class)
                .withoutEnvironment("PATH")
                .args("--long", "--only", "sqlite/holdfast/plain/client-clock", "--out", folder.toString())
                .start()) {
            assertThat(challenge.waitFor(PATIENCE)).isEqualTo(INVALID);
            challenge.expect(line -> line.contains("sqlite/*/*/client-clock: NOT TESTED (needs gcc"), PATIENCE);
        }
    }

    @Test
    void aChallengeThatBreaksDownIsInvalidAndNoLockIsBroken() throws Exception {
        StringWriter message = new StringWriter();
        CommandLine command = Challenge.commandLine(new PrintWriter(message));
        int code = command.getExecutionExceptionHandler()
                .handleExecutionException(new IOException("No space left on device"), command, command.parseArgs());
        assertThat(code).isEqualTo(INVALID);
        assertThat(message.toString()).contains("broke down").contains("No space left on device");
    }

    private static void assertRefused(String why, String... arguments) {
        assertThat(refusal(arguments)).startsWith("holdfast challenge: ").contains(why);
    }

    /** What it prints to its standard error. */
    private static String refusal(String... arguments) {
        StringWriter message = new StringWriter();
        int code = Challenge.commandLine(new PrintWriter(message)).execute(arguments);
        assertThat(code).isEqualTo(USAGE);
        return message.toString();
    }
}
