package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nothing waits for ever because nobody reads what is said on stderr. */
@Tag("thorough")
class StderrTest extends OnOwnStore {
    /** A pipe that is full, and that nobody reads. */
    private static final String FULL_PIPE =
            "mkfifo full && exec 3<> full && { dd if=/dev/zero of=full bs=4096 oflag=nonblock 2> /dev/null || true; }; ";

    private static final String CTRL_S = "\023";

    @Test
    void aLostHoldStopsItsCommandThoughStderrIsFull() {
        ChildProcess shell = withFullStderr("run --lease 9s job -- sh -c 'echo up $$; exec sleep 300'");
        long command = Long.parseLong(shell.expect("up ", SOON).substring("up ".length()));
        try (LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "job")).isTrue();

            shell.expect("code " + ExitCode.HOLD_LOST, SOON);
            assertThat(Cli.isAlive(command)).isFalse();
            assertThat(client.lock("job").status().isHeld()).isFalse();
        }
        assertThat(Cli.end(shell).code()).isZero();
    }

    @Test
    @Tag("thorough") // a lost hold shows the same
    void aCommandThatTookTooLongIsStoppedAndItsLockReleasedThoughStderrIsFull() {
        ChildProcess shell = withFullStderr("run --max-hold 200ms job -- sleep 300");

        shell.expect("code " + ExitCode.HOLD_LOST, SOON);
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status().isHeld()).isFalse();
        }
        assertThat(Cli.end(shell).code()).isZero();
    }

    @Test
    void anErrorEndsTheProgramThoughStderrIsFull() {
        ChildProcess shell = withFullStderr("run --no-such-option job -- true");

        shell.expect("code " + ExitCode.USAGE, SOON);
        assertThat(Cli.end(shell).code()).isZero();
    }

    @Test
    void aWaitGoesOnThoughTheTerminalIsStopped() {
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo up; read line");
                LockClient client = cli.client()) {
            holder.expect("up", SOON);
            ChildProcess terminal = Pseudoterminal.start(
                    cli, "stty ixon; \"$HOLDFAST\" run job -- touch in; echo over > over; sleep 300");
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == 1);
            terminal.type(CTRL_S);
            long began = System.nanoTime();
            // a wait says something after a second, of which this shows nothing; it is enough that it is later
            await().atMost(SOON)
                    .until(() ->
                            System.nanoTime() - began > Duration.ofMillis(1_500).toNanos());
            holder.send("end");

            await().atMost(SOON).until(() -> Files.exists(cli.file("over")));
            assertThat(cli.file("in")).exists();
            terminal.close();
        }
    }

    @Test
    void whatIsSaidIsWrittenInOrderBeforeTheProgramEnds() {
        Cli.Ended ended = cli.run("-v", "--store", "redis://127.0.0.1:1", "list");

        assertThat(ended.err()).hasSizeGreaterThan(1).first().asString().startsWith("holdfast: ");
        assertThat(ended.err().subList(1, ended.err().size())).allMatch(line -> line.startsWith("  "));
    }

    @Test
    void manyLinesThatNobodyReadsCostTheWaitForOneAndTheLastAreKept() {
        CountDownLatch read = new CountDownLatch(1);
        List<String> written = new ArrayList<>();
        PrintStream stderr = new PrintStream(new Stderr(whenRead(read, written)), false, StandardCharsets.UTF_8);
        long began = System.nanoTime();
        for (int i = 0; i < 10_000; i++) {
            stderr.println("line " + i);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));

        read.countDown();
        await().atMost(SOON).until(() -> written(written).contains("line 9999"));
        assertThat(written(written))
                .as("the one that was being written, and the last ones")
                .hasSize(256);
        assertThat(written(written).subList(0, 2)).containsExactly("line 0", "line 9745");
    }

    @Test
    void theLastLineIsReadWhenTheReaderComesSoon() {
        CountDownLatch read = new CountDownLatch(1);
        List<String> written = new ArrayList<>();
        PrintStream stderr = new PrintStream(new Stderr(whenRead(read, written)), false, StandardCharsets.UTF_8);
        stderr.println("lost");
        stderr.println("stopped");
        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(read::countDown);
        stderr.close();

        assertThat(written(written)).containsExactly("lost", "stopped");
    }

    @Test
    void whatIsSaidDuringTheExitIsWritten() {
        List<String> written = new ArrayList<>();
        Stderr stderr = new Stderr(whenRead(new CountDownLatch(0), written));
        PrintStream err = new PrintStream(stderr, false, StandardCharsets.UTF_8);
        stderr.close();
        err.println("could not delete");

        await().atMost(SOON).until(() -> written(written).contains("could not delete"));
    }

    private static List<String> written(List<String> lines) {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    private static OutputStream whenRead(CountDownLatch read, List<String> written) {
        return new OutputStream() {
            @Override
            public void write(int character) {
                throw new AssertionError("not a whole line");
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                try {
                    read.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                synchronized (written) {
                    written.add(new String(bytes, offset, length, StandardCharsets.UTF_8).strip());
                }
            }
        };
    }

    private ChildProcess withFullStderr(String arguments) {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")), "no mkfifo here");
        return cli.shell("sh", "-c", FULL_PIPE + "\"$HOLDFAST\" " + arguments + " 2> full 3>&-; echo code $?")
                .start();
    }
}
