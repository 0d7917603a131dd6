package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} as flock's users type it, on the script; what a wait says on a terminal; a limit to the hold. */
@Tag("thorough")
class FlockWordsTest extends OnOwnStore {
    @Test
    void nTriesOnce() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(script("run", "-n", "job", "--", "echo", "in").code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(script("run", "-n", "-E", "1", "job", "--", "echo", "in").code())
                    .isEqualTo(1);
        }
        assertThat(script("run", "-n", "job", "--", "echo", "in").out()).containsExactly("in");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "0.5"})
    void wTakesSeconds(String seconds) throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            assertThat(hold.isValid()).isTrue();
            Cli.Ended ended = script("run", "-w", seconds, "job", "--", "echo", "in");

            assertThat(ended.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(ended.err())
                    .singleElement()
                    .asString()
                    .contains("could not be acquired within " + shown(seconds));
        }
    }

    private static String shown(String seconds) {
        return seconds.equals("1") ? "1s" : "500ms";
    }

    @Test
    void sShares() {
        try (ChildProcess reader = cli.script("run", "-s", "site", "--", "sh", "-c", "echo in; exec sleep 600")
                .start()) {
            reader.expect("in", SOON);
            assertThat(script("run", "-s", "-n", "site", "--", "echo", "too").out())
                    .containsExactly("too");
            assertThat(script("run", "-n", "site", "--", "true").code()).isEqualTo(ExitCode.NOT_ACQUIRED);
        }
    }

    @Test
    void aHungCommandIsStoppedWhenItHasHeldTheLockForTooLong() {
        Cli.Ended ended = script(
                "run",
                "--max-hold",
                "2",
                "--grace",
                "20",
                "job",
                "--",
                "sh",
                "-c",
                "trap 'echo tidy; exit 3' TERM; " + "echo up; while :; do sleep 0.05; done");

        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.out()).containsExactly("up", "tidy");
        List<String> said = ended.err().stream() // shells report that what they waited for was terminated
                .filter(line -> line.startsWith("holdfast: "))
                .toList();
        assertThat(said).hasSize(2);
        assertThat(said.get(0)).contains("lock 'job'", "has been held for longer than --max-hold 2s", "SIGTERM now");
        assertThat(said.get(1)).contains("was held for longer than --max-hold 2s", "was stopped");
        assertThat(script("run", "-n", "job", "--", "true").code()).isZero();
    }

    @Test
    void nobodyElseGetsTheLockWhileAHungCommandIsStopped() throws IOException {
        try (ChildProcess hung = cli.start(
                "run",
                "--max-hold",
                "2s",
                "--grace",
                "1h",
                "job",
                "--",
                "sh",
                "-c",
                "trap '' TERM; until [ -e end ]; do sleep 0.05; done")) {
            hung.stderr().expect(line -> line.contains("SIGTERM now"), SOON);
            assertThat(cli.run("run", "-w", "1", "job", "--", "true").code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            Files.createFile(cli.file("end"));
            assertThat(hung.waitFor(SOON)).isEqualTo(ExitCode.HOLD_LOST);
        }
    }

    @Test
    void aCommandThatEndsInTimeIsLeftAlone() {
        assertThat(script("run", "--max-hold", "1h", "job", "--", "sh", "-c", "exit 7")
                        .code())
                .isEqualTo(7);
    }

    @Test
    void aWaitOnATerminalSaysWhoHoldsTheLock() {
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo in; exec sleep 600");
                LockClient client = cli.client()) {
            holder.expect("in", SOON);
            ChildProcess terminal = Pseudoterminal.holdfast(cli, "run", "job", "--", "echo", "mine");
            String line = terminal.expect(text -> text.contains("waiting for lock 'job'"), SOON);
            assertThat(line).contains("held by", ":" + holder.pid(), "(sh -c echo in", " for ", "nobody else waits");
            holder.terminate();

            Cli.Ended ended = Cli.end(terminal);
            assertThat(ended.code()).isZero();
            assertThat(ended.out()).last().asString().startsWith("mine");
            await().atMost(SOON).until(() -> !client.lock("job").status().isHeld());
        }
    }

    @Test
    void aWaitInAQueueSaysHowManyAreAheadOfIt() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire();
                ChildProcess first = cli.start("run", "job", "--", "true")) {
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == 1);
            try (ChildProcess terminal = Pseudoterminal.holdfast(cli, "run", "job", "--", "true")) {
                assertThat(terminal.expect(text -> text.contains("waiting for lock 'job'"), SOON))
                        .contains("; 1 other waits (1 ahead)");
            }
            assertThat(hold.isValid() && first.isAlive()).isTrue();
        }
    }

    @Test
    void aWaitThatNobodyWatchesSaysNothing() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            assertThat(hold.isValid()).isTrue();
            Cli.Ended ended = script("run", "-w", "2500ms", "job", "--", "true");

            assertThat(ended.err()).singleElement().asString().contains("could not be acquired");
        }
    }

    private Cli.Ended script(String... args) {
        return Cli.end(cli.script(args).start());
    }
}
