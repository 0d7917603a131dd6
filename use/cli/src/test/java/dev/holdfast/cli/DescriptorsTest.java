package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Descriptors from 3 on reach the command, by the real script on Linux, and change nothing else. */
@Tag("thorough")
class DescriptorsTest extends OnOwnStore {
    @BeforeEach
    void descriptorsArePassedOn() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/fd")), "only Linux passes descriptors on");
    }

    private ChildProcess bash(String line) {
        return cli.shell("bash", "-c", line).start();
    }

    @Test
    void whatASubstitutedProcessWritesIsRead() {
        Cli.Ended ended = Cli.end(bash("\"$HOLDFAST\" run job -- diff <(echo a; echo b) <(echo a; echo c)"));

        assertThat(ended).isEqualTo(new Cli.Ended(1, List.of("2c2", "< b", "---", "> c"), List.of()));
    }

    @Test
    void whatASubstitutedProcessWritesIsReadByOnceAndByFenceAsWell() {
        String diff = " -- diff <(echo a; echo b) <(echo a; echo c)";
        Cli.Ended different = new Cli.Ended(1, List.of("2c2", "< b", "---", "> c"), List.of());

        assertThat(Cli.end(bash("\"$HOLDFAST\" once --every 8760h job" + diff))).isEqualTo(different);
        assertThat(Cli.end(bash("\"$HOLDFAST\" fence job 7" + diff))).isEqualTo(different);
    }

    @Test
    void aFileKeepsItsPlaceAndTheStreamsAreAsBefore() throws IOException {
        Files.writeString(cli.file("in"), "first\nsecond\n");
        Cli.Ended ended = Cli.end(bash("exec 7< in; read -u 7 line; echo stdin | \"$HOLDFAST\" run job -- "
                + "sh -c 'cat <&7; cat; echo err >&2; ls /proc/self/fd | wc -l'"));

        // the four that are open: 0, 1, 2, 7; and the one by which ls reads the folder
        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("second", "stdin", "5"), List.of("err")));
    }

    @Test
    void aListeningSocketIsMeantForTheCommand() {
        Cli.Ended ended = Cli.end(bash("exec 3< /dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$HOLDFAST\" run job -- "
                + "sh -c 'test $LISTEN_PID = $$ && test -e /proc/$$/fd/3 && echo mine'"));

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("mine"), List.of()));
    }

    @Test
    void makeSharesItsJobs() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/make")), "no make here");
        Files.writeString(cli.file("Makefile"), """
                all:
                	+"$(HOLDFAST)" run job -- $(MAKE) inner
                inner: one two
                one two:
                	@echo $@
                """);
        Cli.Ended ended = Cli.end(bash("make -s -j2"));

        assertThat(ended.code()).isZero();
        assertThat(ended.out()).containsExactlyInAnyOrder("one", "two");
        assertThat(ended.err()).noneMatch(line -> line.contains("jobserver"));
    }

    @Test
    void theCommandSeesItsHoldAndNoneOfOurVariables() {
        Cli.Ended ended = Cli.end(cli.shell("bash", "-c", "\"$HOLDFAST\" run größe -- env 3< /dev/null")
                .environment("LC_ALL", "C")
                .environment("HOLDFAST_PASSWORD", "s3cret")
                .start());

        assertThat(ended.code()).isZero();
        assertThat(ended.out())
                .contains("HOLDFAST_NAME=größe", "LC_ALL=C")
                .anyMatch(line -> line.matches("HOLDFAST_HOLD_ID=[0-9a-f]{32}"))
                .noneMatch(line -> line.matches("(HOLDFAST_(PASSWORD|STARTER|LC_ALL_BEFORE)|_JAVA_SR_SIGNUM)=.*"));
    }

    @Test
    void theCommandSeesTheNameWithTheBlanksAtItsEnd() {
        Cli.Ended ended = Cli.end(bash("\"$HOLDFAST\" run 'job  ' -- sh -c 'echo \"($HOLDFAST_NAME)\"' 3< /dev/null"));

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("(job  )"), List.of()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sh -c \"exit 7\"|7",
                "sh -c \"kill -KILL \\$\\$\"|137",
                "no-such-command|127",
                "./no-such-command|127",
                "./notes|126"
            })
    void theExitCodesAreTheSame(String command, int code) throws IOException {
        Files.writeString(cli.file("notes"), "text\n");
        Cli.Ended ended = Cli.end(bash("\"$HOLDFAST\" run job -- " + command + " 3< /dev/null"));

        assertThat(ended.code()).as(ended.toString()).isEqualTo(code);
        assertThat(ended.err()).hasSize(code == 126 || code == 127 ? 1 : 0);
    }

    @Test
    void nothingIsStartedAndNothingIsLeftWhenTheLockIsBusy() {
        String mark = "mark-" + UUID.randomUUID();
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo up; exec sleep 600")) {
            holder.expect("up", SOON);
            Cli.Ended ended = Cli.end(bash("\"$HOLDFAST\" run --wait 0 job -- echo " + mark + " 3< /dev/null"));

            assertThat(ended.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(ended.out()).isEmpty();
            await().atMost(SOON).until(() -> Processes.marked(mark).isEmpty());
        }
    }

    @ParameterizedTest
    @CsvSource({"HUP, 129", "INT, 130", "TERM, 143", "USR1, 138", "USR2, 140"})
    void signalsReachTheCommand(String signal, int code) {
        ChildProcess run = bash("exec \"$HOLDFAST\" run job -- sh -c 'echo up; exec sleep 600' 3< /dev/null");
        run.expect("up", SOON);
        Cli.signal(signal, run.pid());

        assertThat(Cli.end(run).code()).isEqualTo(code);
    }

    @Test
    void aLostHoldStopsTheCommand() {
        String mark = "mark-" + UUID.randomUUID();
        ChildProcess run = bash("exec \"$HOLDFAST\" run --lease 9s --grace 300ms job -- "
                + "sh -c 'trap \"\" TERM; echo up; sleep 600; :' " + mark + " 3< /dev/null");
        run.expect("up", SOON);
        try (LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "job")).isTrue();
        }

        assertThat(Cli.end(run).code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(Processes.marked(mark)).isEmpty();
    }

    @Test
    void aCommandThatAnswersControlBackslashKeepsItsExitCode() {
        ChildProcess terminal = Pseudoterminal.start(
                cli,
                "exec 3< /dev/null; exec \"$HOLDFAST\" run job -- sh -c 'trap \"quit=yes\" QUIT; echo up; "
                        + "until [ \"$quit\" ]; do sleep 0.02; done; sleep 0.5; exit 42'");
        terminal.expect("up", SOON);
        terminal.send(Pseudoterminal.CTRL_BACKSLASH);

        assertThat(Cli.end(terminal).code()).isEqualTo(42);
    }

    @Test
    void aStarterThatWasKilledStartsNothingAndSaysSo() {
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo up; exec sleep 600");
                LockClient client = cli.client()) {
            holder.expect("up", SOON);
            ChildProcess waiter = bash("exec \"$HOLDFAST\" run job -- echo in 3< /dev/null");
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == 1);
            ProcessHandle.of(waiter.pid()).orElseThrow().children().forEach(ProcessHandle::destroyForcibly);
            holder.terminate();

            Cli.Ended ended = Cli.end(waiter);
            assertThat(ended.code()).isEqualTo(ExitCode.INTERNAL);
            assertThat(ended.out()).isEmpty();
            assertThat(ended.err()).singleElement().asString().contains("'echo' was not started", "run it again");
            assertThat(client.lock("job").status().isHeld()).isFalse();
        }
    }

    @Test
    void controlCReachesTheCommandOnce() {
        ChildProcess terminal = Pseudoterminal.start(
                cli,
                "exec 3< /dev/null; exec \"$HOLDFAST\" run job -- sh -c 'n=0; trap \"n=\\$((n + 1))\" INT; echo up; "
                        + "while [ $n = 0 ]; do sleep 0.02; done; sleep 0.5; exit $((40 + n))'");
        terminal.expect("up", SOON);
        terminal.send(Pseudoterminal.CTRL_C);

        assertThat(Cli.end(terminal).code()).isEqualTo(41);
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status()).isEqualTo(LockStatus.free("job", 0));
        }
    }
}
