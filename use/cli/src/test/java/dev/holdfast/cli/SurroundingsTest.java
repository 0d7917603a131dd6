package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The script from a shell, from a pipe and as cron starts it: the same exit codes, and bytes that pass unchanged. */
@Tag("thorough")
class SurroundingsTest extends OnOwnStore {
    private static final int MANY_BYTES = 20_000_000;

    /** Where the command line is called from. */
    private enum Caller {
        BASH,
        DASH,
        /** No terminal, nothing to read, hardly any environment; the working directory is the user's home. */
        CRON,
        /** As a service: hardly any environment, and what systemd says of the service. */
        SYSTEMD,
        /** As the first process of a container, with nobody above it to collect orphans. */
        PID_1,
        /** In the middle of a pipeline. */
        PIPE;

        ChildProcess.Builder call(Cli cli, String line) {
            return switch (this) {
                case BASH -> cli.shell("bash", "-c", line);
                case DASH -> {
                    assumeTrue(Files.isExecutable(Path.of("/usr/bin/dash")), "no dash here");
                    yield cli.shell("dash", "-c", line);
                }
                case PID_1 -> {
                    assumeTrue(mayUnshare(), "no PID namespace may be made here");
                    yield cli.shell("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", "exec " + line);
                }
                case SYSTEMD ->
                    cli.shell(
                            "env",
                            "-i",
                            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                            "LANG=C.UTF-8",
                            "INVOCATION_ID=0123456789abcdef0123456789abcdef",
                            "JOURNAL_STREAM=8:12345",
                            "SYSTEMD_EXEC_PID=1",
                            "HOME=" + cli.file(""),
                            "HOLDFAST_STORE=" + cli.store(),
                            "HOLDFAST=" + Launcher.script(),
                            "sh",
                            "-c",
                            "exec " + line + " < /dev/null");
                case CRON ->
                    cli.shell(
                            "env",
                            "-i",
                            "PATH=/usr/bin:/bin",
                            "SHELL=/bin/sh",
                            "LOGNAME=me",
                            "HOME=" + cli.file(""),
                            "HOLDFAST_STORE=" + cli.store(),
                            "HOLDFAST=" + Launcher.script(),
                            "sh",
                            "-c",
                            "{ " + line + "; } < /dev/null");
                case PIPE -> cli.shell("bash", "-c", "echo x | { " + line + "; } | cat; exit ${PIPESTATUS[1]}");
            };
        }
    }

    private static boolean mayUnshare() {
        return Files.isExecutable(Path.of("/usr/bin/unshare"))
                && Cli.end(ChildProcess.command("unshare", "--pid", "--fork", "--mount-proc", "true")
                                        .start())
                                .code()
                        == 0;
    }

    /** One row of the documented table. */
    private record Row(int code, String arguments) {}

    private static final List<Row> TABLE = List.of(
            new Row(0, "run free -- true"),
            new Row(7, "run free -- sh -c 'exit 7'"),
            new Row(255, "run free -- sh -c 'exit 255'"),
            new Row(137, "run free -- sh -c 'kill -KILL $$'"),
            new Row(64, "run free"),
            new Row(64, "run --wait soon free -- true"),
            new Row(64, "release busy"),
            new Row(69, "--store sqlite:/dev/null/x run free -- true"),
            new Row(75, "run --wait 0 busy -- true"),
            new Row(75, "run --wait 100ms busy -- true"),
            new Row(9, "run --wait 0 -E 9 busy -- true"),
            new Row(0, "run --wait 0 --conflict-exit-code=0 busy -- true"),
            new Row(126, "run free -- ."),
            new Row(127, "run free -- no-such-command"),
            new Row(0, "list"),
            new Row(1, "release --yes free"),
            new Row(0, "schema sqlite"),
            new Row(0, "completion bash"),
            new Row(0, "--version"));

    @Test
    void theExitCodesAreTheDocumentedOnes() {
        assertExitCodes(Caller.BASH, TABLE);
    }

    /** From bash the whole table passes; from elsewhere a code of each kind. */
    @ParameterizedTest
    @EnumSource(names = "BASH", mode = EnumSource.Mode.EXCLUDE)
    void theExitCodesPassWhereverItIsCalledFrom(Caller caller) {
        List<Integer> ofEachKind = List.of(7, 137, 75, 127);
        assertExitCodes(
                caller,
                TABLE.stream().filter(row -> ofEachKind.contains(row.code())).toList());
    }

    private void assertExitCodes(Caller caller, List<Row> rows) {
        try (ChildProcess busy = cli.start("run", "busy", "--", "sh", "-c", "echo up; exec sleep 600")) {
            busy.expect("up", SOON);
            for (Row row : rows) {
                Cli.Ended ended = Cli.end(
                        caller.call(cli, "\"$HOLDFAST\" " + row.arguments()).start());
                assertThat(ended.code()).as("%s: %s", row.arguments(), ended).isEqualTo(row.code());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLostHoldExitsWith79WhereverItIsCalledFrom(Caller caller) {
        ChildProcess run = caller.call(cli, "\"$HOLDFAST\" run --lease 9s job -- sh -c 'echo up >&2; exec sleep 600'")
                .start();
        run.stderr().expect("up", SOON);
        try (LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "job")).isTrue();
        }

        assertThat(Cli.end(run).code()).isEqualTo(ExitCode.HOLD_LOST);
    }

    @ParameterizedTest
    @EnumSource
    void aSignalReachesTheCommandWhereverItIsCalledFrom(Caller caller) {
        ChildProcess run = caller.call(cli, "\"$HOLDFAST\" run job -- sh -c 'echo up >&2; exec sleep 600'")
                .start();
        run.stderr().expect("up", SOON);
        ProcessHandle called = ProcessHandle.of(run.pid()).orElseThrow();
        Stream.concat(Stream.of(called), called.descendants())
                .filter(process -> process.info().command().orElse("").endsWith("/java"))
                .forEach(holdfast -> Cli.signal("TERM", holdfast.pid()));

        assertThat(Cli.end(run).code()).isEqualTo(143);
    }

    @Test
    void cronFindsTheFileOfItsUser() {
        Cli.Ended ended = Cli.end(cli.shell(
                        "env",
                        "-i",
                        "PATH=/usr/bin:/bin",
                        "HOME=" + folder,
                        Launcher.script().toString(),
                        "run",
                        "nächtlich",
                        "--",
                        "sh",
                        "-c",
                        "echo $HOLDFAST_NAME")
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("nächtlich"), List.of()));
        assertThat(cli.file(".local/state/holdfast/locks.db")).isRegularFile();
    }

    @Test
    void manyBytesOfAnyKindPassUnchanged() throws IOException {
        byte[] bytes = new byte[MANY_BYTES];
        new Random(7).nextBytes(bytes);
        Files.write(cli.file("in"), bytes);
        Cli.Ended ended = Cli.end(cli.shell("bash", "-c", "cat in | \"$HOLDFAST\" run job -- cat | cat > out")
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
        assertThat(Files.mismatch(cli.file("in"), cli.file("out"))).isEqualTo(-1);
    }

    @Test
    void aReaderThatGoesAwayEndsTheCommandAsItWouldWithoutUs() {
        Cli.Ended ended =
                Cli.end(cli.shell("bash", "-c", "\"$HOLDFAST\" run job -- yes | head -n 1; echo ${PIPESTATUS[0]}")
                        .start());

        assertThat(ended.out()).containsExactly("y", "141");
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void theCommandReadsItsInputFromWhereItIs() throws IOException {
        Files.writeString(cli.file("in"), "first\nsecond\n");
        Cli.Ended ended =
                Cli.end(cli.shell("bash", "-c", "{ read a; \"$HOLDFAST\" run job -- cat; echo \"after $a\"; } < in")
                        .start());

        assertThat(ended.out()).containsExactly("second", "after first");
    }

    @Test
    void theCommandSeesNoPasswordOfTheStore() {
        Cli.Ended ended = Cli.end(cli.script("run", "job", "--", "env")
                .environment("HOLDFAST_PASSWORD", "s3cret-of-the-store")
                .start());

        assertThat(ended.code()).isZero();
        assertThat(ended.out())
                .anyMatch(line -> line.startsWith("HOLDFAST_TOKEN="))
                .noneMatch(line -> line.contains("PASSWORD") || line.contains("s3cret"));
    }

    @Test
    void noMessageShowsThePassword() {
        Stream<String[]> calls = Stream.of(
                new String[] {"-v", "--store", "gopher://host/s3cret-of-the-store", "list"},
                new String[] {"-v", "--store", "sqlite:/dev/null/s3cret-of-the-store", "list"},
                new String[] {"release", "--yes", "s3cret-of-the-store"});
        assertThat(calls).allSatisfy(arguments -> {
            Cli.Ended ended = Cli.end(cli.jvm(arguments)
                    .environment("HOLDFAST_PASSWORD", "s3cret-of-the-store")
                    .start());
            assertThat(ended.err()).isNotEmpty().noneMatch(line -> line.contains("s3cret"));
        });
    }
}
