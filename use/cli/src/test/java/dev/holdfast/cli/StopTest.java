package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** No process of a command goes on without the lock; by the real script. */
class StopTest extends OnOwnStore {
    private static final String NOBODY = "65534";
    /** So long that a holder on a busy machine does not lose its hold by itself. */
    private static final String LEASE = "4s";

    /** Longer than the lease. */
    private static final String LONG = "4500ms";

    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    /** Marks the processes of one test. */
    private final String mark = "mark-" + UUID.randomUUID();

    @AfterEach
    void leaveNothing() {
        Processes.kill(Processes.marked(mark));
    }

    @Test
    @Tag("thorough")
    void aProgramThatCleansUpWithinTheGraceIsNotDisturbed() throws IOException {
        ChildProcess run = run(
                "20s",
                "trap 'sh -c \"echo begun > work; sleep 0.5; echo done > work\"; exit 5' TERM; echo up; "
                        + "while :; do sleep 0.05; done");

        Cli.Ended ended = loseHold(run);
        assertThat(Files.readString(cli.file("work"))).isEqualTo("done\n");
        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
    }

    @Test
    void theLossIsReportedWhenItHappensAndAgainWhenTheCommandHasEnded() {
        Cli.Ended ended = loseHold(run("20s", "echo up; exec sleep 300"));

        assertThat(ended.err()).hasSize(2);
        assertThat(ended.err().get(0)).contains("'job'", "is lost", "SIGTERM now", "SIGKILL in 20s");
        assertThat(ended.err().get(1)).contains("'job'", "was stopped", "check what it left");
    }

    @Test
    void aDaemonIsStoppedThoughItsParentHasEnded() {
        ChildProcess run = run(
                "300ms",
                "(setsid sh -c 'trap \"\" TERM; sleep 300; :' " + mark + " &); sleep 0.3; echo up; exec sleep 300");
        assertThat(Processes.marked(mark)).as("holdfast itself, and the daemon").hasSizeGreaterThan(1);

        assertThat(loseHold(run).err()).last().asString().contains("was stopped");
        assertThat(Processes.marked(mark)).isEmpty();
    }

    @Test
    @Tag("thorough")
    void aDaemonThatWasStartedUnderAnotherLockWithinIsStopped() {
        String daemon = "(setsid sh -c \"sleep 300; :\" " + mark + " &); sleep 0.3; echo up; exec sleep 300";
        ChildProcess run = run("300ms", Launcher.script() + " run inner -- sh -c '" + daemon + "'");
        assertThat(Processes.marked(mark)).isNotEmpty();

        assertThat(loseHold(run).err()).last().asString().contains("was stopped");
        assertThat(Processes.marked(mark)).isEmpty();
    }

    @Test
    @Tag("thorough") // it takes both cores for most of a minute, in which the tests beside it cannot keep their leases
    void processesThatForkAllTheTimeAreStopped() throws IOException {
        // A chain: each process starts the next and ends, so that its parent is gone before anybody looks.
        Files.writeString(cli.file("chain.sh"), """
                trap '' TERM
                [ "$2" -gt 0 ] || { echo end > chain-ended; exit; }
                sh chain.sh "$1" $(( $2 - 1 )) &
                """);
        // A tree: each process starts two and goes on; 31 in all, and as many that sleep.
        Files.writeString(cli.file("tree.sh"), """
                trap '' TERM
                [ "$2" -eq 0 ] || { sh tree.sh "$1" $(( $2 - 1 )) & sh tree.sh "$1" $(( $2 - 1 )) & }
                sleep 300 &
                wait
                """);
        ChildProcess run = run(
                "100ms", "trap '' TERM; sh chain.sh " + mark + " 100000 & sh tree.sh " + mark + " 4 & echo up; wait");

        breakHold();
        run.waitFor(Duration.ofMinutes(2)); // the machine is busy with the chain
        Cli.Ended ended = Cli.end(run);
        assertThat(ended.err()).last().asString().contains("was stopped");
        for (int look = 0; look < 20; look++) { // a chain is easily overlooked
            assertThat(Processes.marked(mark)).isEmpty();
        }
        assertThat(cli.file("chain-ended")).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void aCommandOfAnotherUserThatCannotBeStoppedIsNamed() throws IOException {
        String become = becomeAnotherUser();
        ChildProcess run = asNobody("echo up >&2; exec " + become + " sh -c 'sleep 300; :' " + mark)
                .start();
        run.stderr().expect("up", SOON);
        await().atMost(SOON).until(() -> !Processes.marked(mark, "daemon").isEmpty());

        breakHold();
        await().atMost(SOON).until(() -> !run.isAlive());
        Processes.kill(Processes.marked(mark)); // it still has the output open, of which the end is awaited
        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.err())
                .last()
                .asString()
                .contains("COULD NOT BE STOPPED", "(pid ", ", user daemon)")
                .doesNotContain("was stopped");
    }

    @Test
    @Tag("thorough") // a quarter of a minute of waiting; the case of a signal is everyday
    void aCommandThatTookTooLongAndCannotBeStoppedKeepsItsLockUntilItEnds() throws IOException {
        Files.writeString(cli.file("work.sh"), """
                until [ -e go ]; do sleep 0.1; done
                sh -c 'sleep 300; :' "$1-next" &
                until [ -e end ]; do sleep 0.1; done
                """);
        ChildProcess run = overdueAsAnotherUser("sh work.sh");
        Files.createFile(cli.file("go"));
        await().atMost(SOON)
                .until(() -> !Processes.marked(mark + "-next", "daemon").isEmpty());

        assertThat(tryFor(LONG)).as("another one, for longer than the lease").isEqualTo(ExitCode.NOT_ACQUIRED);
        Files.createFile(cli.file("end"));
        await().atMost(SOON).until(() -> Processes.marked(mark, "daemon").size() == 1);
        assertThat(tryFor(LONG))
                .as("another one, while only what was started later goes on")
                .isEqualTo(ExitCode.NOT_ACQUIRED);
        assertThat(run.isAlive()).isTrue();
        Processes.kill(Processes.marked(mark, "daemon"));
        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.err()).last().asString().contains("--max-hold 5s", "was stopped");
        assertThat(tryFor("0")).isZero();
    }

    @Test
    @Tag("thorough")
    void aSignalEndsTheWaitForWhatCannotBeStopped() throws IOException {
        ChildProcess run = overdueAsAnotherUser("sh -c 'sleep 300; :'");
        run.terminate();

        run.stderr().expect("holdfast: SIGTERM received: lock 'job'", SOON);
        await().atMost(SOON).until(() -> !run.isAlive());
        assertThat(tryFor("0")).isZero();
        assertThat(Processes.marked(mark, "daemon")).isNotEmpty();
        Processes.kill(Processes.marked(mark)); // it still has the output open, of which the end is awaited
        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.err())
                .last()
                .asString()
                .contains("--max-hold 5s", "COULD NOT BE STOPPED and continues without the lock", ", user daemon)");
    }

    @Test
    @Tag("thorough")
    void theNameOfAProgramThatCannotBeStoppedDoesNotReachTheTerminalAsItIs() throws IOException {
        Path shell = cli.file("s\u001b[2J\nh");
        Files.createSymbolicLink(shell, Path.of("/bin/sh"));
        ChildProcess run = overdueAsAnotherUser("'./" + shell.getFileName() + "' -c 'sleep 300; :'");

        assertThat(run.stderr().lines()).last().asString().contains(" s?[2J; h (pid ");
        run.close();
    }

    /** A run whose time is over, and whose command goes on as another user, which it has become in time. */
    private ChildProcess overdueAsAnotherUser(String shellCommand) throws IOException {
        ChildProcess run = asNobody(
                        List.of("--lease", LEASE, "--grace", "100ms", "--max-hold", "5s"),
                        "exec " + becomeAnotherUser() + " " + shellCommand + " " + mark)
                .start();
        assertThat(run.stderr().expect("holdfast: 'sh", SOON))
                .contains("could not be stopped; lock 'job'", "stays held until these processes end", "user daemon");
        return run;
    }

    private int tryFor(String patience) {
        return cli.run("run", "--wait", patience, "job", "--", "true").code();
    }

    @Test
    @Tag("thorough")
    void aSignalThatDoesNotReachTheCommandIsReported() throws IOException {
        String become = becomeAnotherUser();
        ChildProcess run = asNobody("echo up >&2; exec " + become + " sh -c 'sleep 300; :' " + mark)
                .start();
        run.stderr().expect("up", SOON);
        await().atMost(SOON).until(() -> !Processes.marked(mark, "daemon").isEmpty());
        run.terminate();

        assertThat(run.stderr().expect("holdfast: SIGTERM", SOON)).contains("another user");
        run.close();
    }

    @Test
    @Tag("thorough") // it takes both cores
    void atNoLimitOfThreadsDoesACommandGoOnWithoutTheLock() throws IOException {
        assumeRoot();
        shareFolder();
        for (int limit = 13; limit <= 24; limit++) {
            String line = "exec prlimit --nproc=" + limit + " " + nobody()
                    + " \"$HOLDFAST\" run --wait 0 --grace 0ms job -- "
                    // without our output, whose end is awaited: what goes on would have ended by then
                    + "sh -c 'exec > /dev/null 2>&1; sleep 1; :' " + mark;
            Cli.Ended ended = Cli.end(cli.shell("sh", "-c", line)
                    .environment("HOME", folder.toString())
                    .start());
            assertThat(Processes.marked(mark))
                    .as("with %d threads, after %s", limit, ended)
                    .isEmpty();
        }
    }

    /**
     * Between the last look at the hold and the start there is a moment in which nobody can see that it ended; holdfast that
     * did not look would start the command each time.
     */
    @Test
    @Tag("thorough")
    void aHoldThatEndedBeforeTheCommandStartedStartsNothing() {
        try (LockClient client = cli.client()) {
            Set<Stopped> seen = EnumSet.noneOf(Stopped.class);
            int between = 0;
            for (int attempt = 0; attempt < 40 && !seen.contains(Stopped.BEFORE_THE_LOOK); attempt++) {
                Stopped when = stoppedBetweenGrantAndStart(client, attempt);
                seen.add(when);
                between += when == Stopped.BETWEEN_LOOK_AND_START ? 1 : 0;
                assertThat(between)
                        .as("commands started though their hold had ended")
                        .isLessThan(8);
            }
            assumeTrue(
                    seen.contains(Stopped.BEFORE_THE_LOOK),
                    "never stopped holdfast between the grant and the start of its command");
        }
    }

    /** When holdfast stood still past its lease. */
    private enum Stopped {
        BEFORE_THE_LOOK,
        BETWEEN_LOOK_AND_START,
        AT_ANOTHER_TIME
    }

    private Stopped stoppedBetweenGrantAndStart(LockClient client, int attempt) {
        String name = "job" + attempt;
        ChildProcess run = cli.script("run", "--lease", "1s", name, "--", "touch", "started" + attempt)
                .start();
        while (run.isAlive() && !client.lock(name).status().isHeld()) {
            Thread.onSpinWait();
        }
        if (!run.isAlive()) {
            run.close();
            return Stopped.AT_ANOTHER_TIME;
        }
        try {
            run.stop(); // returns when no thread runs: one may be starting the command
        } catch (AssertionError ended) {
            run.close();
            return Stopped.AT_ANOTHER_TIME;
        }
        await().atMost(SOON).until(() -> !client.lock(name).status().isHeld());
        if (Files.exists(cli.file("started" + attempt))
                || ProcessHandle.of(run.pid()).map(p -> p.children().count()).orElse(0L) > 0) {
            Cli.signal("CONT", run.pid()); // the launcher had been asked to start it before the stop
            run.close();
            return Stopped.AT_ANOTHER_TIME;
        }
        Cli.signal("CONT", run.pid());
        Cli.Ended ended = Cli.end(run);
        if (Files.exists(cli.file("started" + attempt))) {
            return Stopped.BETWEEN_LOOK_AND_START;
        }
        if (ended.code() == ExitCode.STORE_UNAVAILABLE) { // it was stopped before it had the store's answer
            assertThat(ended.err()).last().asString().contains("took longer to answer than the lease it granted");
            return Stopped.AT_ANOTHER_TIME;
        }
        assertThat(ended.code()).as(ended.toString()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.err()).last().asString().contains("was not started");
        return Stopped.BEFORE_THE_LOOK;
    }

    @Test
    void aCommandDiesWithItsParentWhereItIsAskedFor() {
        assumeTrue(Files.isExecutable(SETPRIV), "no setpriv here");
        ChildProcess run = cli.script("run", "--die-with-parent", "job", "--", "sh", "-c", "echo up $$; exec sleep 300")
                .start();
        long command =
                Long.parseLong(run.expect(Pattern.compile("up (\\d+)"), SOON).group(1));
        Cli.signal("KILL", run.pid());

        await().atMost(SOON).until(() -> !Cli.isAlive(command));
        run.close();
    }

    @Test
    @Tag("thorough")
    void whatDiesWithItsParentKeepsItsExitCodes() {
        assumeTrue(Files.isExecutable(SETPRIV), "no setpriv here");
        assertThat(dying("sh", "-c", "exit 9").code()).isEqualTo(9);
        assertThat(dying("sh", "-c", "kill -KILL $$").code()).isEqualTo(137);
        Cli.Ended none = dying("no-such-command");
        assertThat(none.code()).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(none.err()).singleElement().asString().contains("'no-such-command' not found");
        assertThat(dying(".").code()).isEqualTo(ExitCode.NOT_EXECUTABLE);
    }

    @Test
    @Tag("thorough")
    void aSystemThatCannotEndACommandWithItsParentSaysSo() throws IOException {
        Path tools = Files.createDirectory(cli.file("bin"));
        for (String tool : List.of("bash", "env", "find", "readlink", "true")) {
            Files.createSymbolicLink(
                    tools.resolve(tool), Path.of("/usr/bin", tool).toRealPath());
        }
        Cli.Ended ended = Cli.end(cli.script("run", "--die-with-parent", "job", "--", "true")
                .environment("PATH", tools.toString())
                .start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("--die-with-parent", "setpriv");
    }

    private Cli.Ended dying(String... command) {
        return Cli.end(cli.script("run", "--die-with-parent", "job", "--")
                .args(command)
                .start());
    }

    private ChildProcess run(String grace, String shellCommand) {
        ChildProcess run = cli.script("run", "--lease", LEASE, "--grace", grace, "job", "--", "sh", "-c", shellCommand)
                .start();
        run.expect("up", SOON);
        return run;
    }

    private Cli.Ended loseHold(ChildProcess run) {
        breakHold();
        return Cli.end(run);
    }

    private void breakHold() {
        try (LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "job")).isTrue();
        }
    }

    /** A run whose command is a shell, as a user without rights. */
    private ChildProcess.Builder asNobody(String shellCommand) throws IOException {
        return asNobody(List.of("--lease", LEASE, "--grace", "300ms"), shellCommand);
    }

    private ChildProcess.Builder asNobody(List<String> options, String shellCommand) throws IOException {
        shareFolder();
        return cli.shell(Stream.of(
                                List.of(nobody().split(" ")),
                                List.of(Launcher.script().toString(), "run"),
                                options,
                                List.of("job", "--", "sh", "-c", shellCommand))
                        .flatMap(List::stream)
                        .toArray(String[]::new))
                .environment("HOME", folder.toString());
    }

    /** A program by which a user without rights becomes another one, as by sudo. */
    private String becomeAnotherUser() throws IOException {
        assumeRoot();
        Path become = cli.file("become");
        Files.copy(SETPRIV, become, StandardCopyOption.REPLACE_EXISTING);
        new ProcessBuilder("chmod", "4755", become.toString()).start().onExit().join();
        return become + " --reuid=1 --regid=1 --clear-groups";
    }

    private static String nobody() {
        return SETPRIV + " --reuid=" + NOBODY + " --regid=" + NOBODY + " --clear-groups";
    }

    private static void assumeRoot() {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may become another user");
        assumeTrue(Files.isExecutable(SETPRIV), "no setpriv here");
    }

    private void shareFolder() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
}
