package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast run}, beside what {@link CommandLineContract} shows: nothing goes wrong, or only the command does. */
class RunTest extends OnOwnStore {
    private static final int PROCESSES = 8;

    @Test
    @Tag("thorough")
    void exitsWith128AndTheSignalThatEndedTheCommand() {
        assertThat(cli.run("run", "job", "--", "sh", "-c", "kill -KILL $$").code())
                .isEqualTo(128 + 9);
    }

    @Test
    void tellsTheCommandALineForEachOfSeveralNamesInTheirOrder() {
        Cli.Ended ended = cli.run(
                "run",
                "the shop",
                "account:3",
                "--",
                "sh",
                "-c",
                "echo \"$HOLDFAST_NAME\"; echo \"$HOLDFAST_TOKEN\"; echo \"$HOLDFAST_HOLD_ID\"");

        assertThat(ended.out()).hasSize(6).startsWith("the shop", "account:3");
        assertThat(ended.out().subList(2, 4)).allMatch(token -> Long.parseLong(token) > 0);
        assertThat(ended.out().subList(4, 6))
                .allMatch(id -> id.matches("[0-9a-f]{32}"))
                .doesNotHaveDuplicates();
    }

    @Test
    void passesStdinStdoutAndStderrThrough() {
        ChildProcess copy = cli.start("run", "job", "--", "sh", "-c", "cat; echo done >&2");
        copy.send("one line");
        copy.closeInput();

        Cli.Ended ended = Cli.end(copy);
        assertThat(ended.out()).containsExactly("one line");
        assertThat(ended.err()).containsExactly("done");
    }

    @Test
    void passesTheArgumentsAsTheyAre() {
        List<String> args = List.of("a b", "", "--wait", "--", "@file", "*", "größe", "${x}", "-h");
        Cli.Ended ended = cli.run(Stream.concat(Stream.of("run", "job", "--", "printf", "%s|"), args.stream())
                .toArray(String[]::new));

        assertThat(ended.out()).containsExactly(String.join("|", args) + "|");
    }

    @Test
    @Tag("thorough")
    void takesOptionsBeforeAndAfterTheName() {
        assertThat(cli.run("run", "--fifo", "job", "--wait", "0", "--", "true").code())
                .isZero();
    }

    @Test
    void exitsWith127WhenTheCommandIsNotFoundAndLeavesTheLockFree() {
        Cli.Ended ended = cli.run("run", "job", "--", "no-such-command");

        assertThat(ended.code()).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ended.err()).singleElement().asString().contains("'no-such-command' not found");
        assertThat(cli.run("run", "--wait", "0", "job", "--", "true").code()).isZero();
    }

    @Test
    @Tag("thorough")
    void exitsWith126WhenTheCommandIsNotExecutableAndLeavesTheLockFree() throws IOException {
        Files.writeString(cli.file("notes.txt"), "text\n");
        Cli.Ended ended = cli.run("run", "job", "--", "./notes.txt");

        assertThat(ended.code()).isEqualTo(ExitCode.NOT_EXECUTABLE);
        assertThat(ended.err()).singleElement().asString().contains("'./notes.txt' cannot be executed");
        assertThat(cli.run("run", "--wait", "0", "job", "--", "true").code()).isZero();
    }

    @Test
    @Tag("thorough")
    void leavesNoTemporaryFilesEvenAfterKillMinusNine() throws IOException {
        Path temporary = Files.createDirectory(cli.file("tmp"));
        ChildProcess killed = cli.jvm("run", "job", "--", "sh", "-c", "echo pid $$; exec sleep 600")
                .flags("-Djava.io.tmpdir=" + temporary)
                .start();
        String orphan = killed.expect("pid ", SOON).substring("pid ".length());
        killed.kill();
        Cli.signal("KILL", Long.parseLong(orphan));
        killed.close();

        assertThat(temporary).isEmptyDirectory();
        assertThat(cli.file(".cache/holdfast")).as("what all processes share").isDirectory();
    }

    /** So long between reading and writing that all of them would read the same number. */
    @Test
    @Tag("thorough")
    void letsEightProcessesCountWithoutLosingOneAndWithRisingTokens() throws IOException {
        count(1, "0.2");
    }

    @Test
    @Tag("thorough")
    void letsEightProcessesCountAgainAndAgainWithoutLosingOneAndWithRisingTokens() throws IOException {
        count(3, "0.02");
    }

    private void count(int rounds, String pause) throws IOException {
        Files.writeString(cli.file("counter"), "0\n");
        ExecutorService starters = Executors.newFixedThreadPool(PROCESSES);
        try {
            IntStream.range(0, PROCESSES)
                    .mapToObj(i -> CompletableFuture.runAsync(() -> countSomeTimes(rounds, pause), starters))
                    .toList()
                    .forEach(CompletableFuture::join);
        } finally {
            starters.shutdownNow();
        }

        assertThat(Files.readString(cli.file("counter"))).isEqualTo(PROCESSES * rounds + "\n");
        List<Long> tokens = Files.readAllLines(cli.file("tokens")).stream()
                .map(Long::valueOf)
                .toList();
        assertThat(tokens).hasSize(PROCESSES * rounds).doesNotHaveDuplicates().isSorted();
    }

    private void countSomeTimes(int rounds, String pause) {
        for (int round = 0; round < rounds; round++) {
            Cli.Ended ended = cli.run(
                    "run",
                    "counter",
                    "--",
                    "sh",
                    "-c",
                    "n=$(cat counter); echo $HOLDFAST_TOKEN >> tokens; sleep " + pause + "; echo $((n + 1)) > counter");
            assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
        }
    }

    @Test
    @Tag("thorough")
    void letsNoMoreRunAtOnceThanThereArePermits() throws IOException {
        ExecutorService starters = Executors.newFixedThreadPool(PROCESSES);
        try {
            IntStream.range(0, PROCESSES)
                    .mapToObj(i -> CompletableFuture.runAsync(this::countTheOthers, starters))
                    .toList()
                    .forEach(CompletableFuture::join);
        } finally {
            starters.shutdownNow();
        }

        assertThat(Files.readAllLines(cli.file("seen")))
                .hasSize(PROCESSES)
                .allMatch(atWork -> Integer.parseInt(atWork.strip()) <= 2);
    }

    private void countTheOthers() {
        Cli.Ended ended = cli.run(
                "run",
                "--permits",
                "1/2",
                "encode",
                "--",
                "sh",
                "-c",
                "mkdir at-work.$$; set -- at-work.*; echo $# >> seen; sleep 0.05; rmdir at-work.$$");
        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
    }
}
