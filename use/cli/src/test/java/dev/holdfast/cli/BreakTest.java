package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast break} asks for a reason and keeps it, and {@code holdfast why} tells it; on the script. */
class BreakTest extends OnOwnStore {
    @AutoClose
    private LockClient client;

    private Hold hold;

    @BeforeEach
    void someoneHoldsALock() throws InterruptedException {
        client = LockClient.builder(cli.store()).label("nightly").build();
        hold = client.lock("job").acquire();
    }

    @Test
    void theReasonIsAskedForAndKeptForWhy() throws IOException {
        ChildProcess terminal = Pseudoterminal.start(cli, home() + " exec \"$HOLDFAST\" break job");
        terminal.expect(line -> line.contains("held by") && line.contains("(nightly)"), SOON);
        terminal.send("y");
        terminal.send("hung \u001b[31m since noon");

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out())).contains("Why? ", "broke lock 'job'");
        assertThat(script("why", "job").out())
                .anyMatch(line ->
                        line.matches("  broken +\\d{4}-\\d\\d-\\d\\dT.* by .*@.*, held by .*\\(nightly\\): hung .*"))
                .noneMatch(line -> line.contains("\u001b"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(journal())))
                .isEqualTo("rw-------");
    }

    @Test
    @Tag("thorough")
    void aReasonOfTheCommandLineIsNotAskedFor() {
        Cli.Ended ended = script("break", "--yes", "--reason", "it hung", "--json", "job");

        assertThat(ended.code()).isZero();
        assertThat(ended.out())
                .singleElement()
                .asString()
                .contains("\"name\":\"job\"", "\"now\":false", "\"reason\":\"it hung\"", "\"holder\":")
                .contains("\"confirmed\":true");
        assertThat(script("why", "--json", "job").out())
                .singleElement()
                .asString()
                .contains("\"breaks\":[{", "\"reason\":\"it hung\"");
    }

    @Test
    void withoutATerminalItRefusesToAskAndBreaksNothing() {
        Cli.Ended ended = script("break", "--reason", "x", "job");

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("'job'", "--yes");
        assertThat(client.lock("job").status().isHeld()).isTrue();
        assertThat(journal()).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void aJournalThatCannotBeWrittenBreaksTheLockAllTheSame() throws IOException {
        Files.createDirectories(journal());
        Cli.Ended ended = script("break", "--yes", "--reason", "x", "job");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).hasSize(2);
        assertThat(ended.err().get(0)).contains("broke lock 'job'");
        assertThat(ended.err().get(1)).contains("the reason could not be kept");
        assertThat(script("why", "job").code()).isZero();
    }

    @Test
    void aBreakWhoseAnswerIsLostIsKeptAsOneThatMayHaveHappened() throws InterruptedException {
        try (RedisServer server = orSkip(RedisServer::start);
                TcpProxy proxy = TcpProxy.to(server.port());
                LockClient holds = LockClient.connect(server.uri())) {
            Hold broken = holds.lock("job").acquire();
            cli = new Cli(folder, "redis://127.0.0.1:" + proxy.port());
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing(Long.toString(broken.token() / 1024)));

            // Repeated on a new connection, it finds no grant: the first may have broken it, or it ended by itself.
            Cli.Ended ended = script("break", "--now", "--yes", "--json", "--reason", "it hung", "job");

            assertThat(lost.hasBitten()).isTrue();
            assertThat(ended.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(ended.out()).isEmpty();
            assertThat(ended.err())
                    .last()
                    .asString()
                    .contains("it is unknown whether lock 'job' on " + cli.store(), "was broken", "holdfast why job");
            assertThat(script("why", "job").out())
                    .anyMatch(line -> line.matches("  broken\\? .* by .*@.*, held by .*; unknown, .*: it hung"));
            assertThat(script("why", "--json", "job").out())
                    .singleElement()
                    .asString()
                    .contains("\"reason\":\"it hung\",\"confirmed\":false");
        }
    }

    @Test
    @Tag("thorough")
    void linesOfAnotherFormInTheJournalArePassedOver() throws IOException {
        script("break", "--yes", "--reason", "first", "job");
        Files.writeString(journal(), "nonsense\n\t\t\t\n" + Files.readString(journal()) + "\uFFFE");

        assertThat(script("why", "job").out()).anyMatch(line -> line.contains("first"));
    }

    @Test
    void blanksAroundANameBelongToItInWhyToo() throws InterruptedException {
        assertThat(client.lock(" job ").acquire().isValid()).isTrue();

        script("break", "--yes", "--reason", "it hung", " job ");

        assertThat(script("why", " job ").out()).anyMatch(line -> line.contains("it hung"));
        assertThat(script("why", "job").out()).noneMatch(line -> line.contains("it hung"));
    }

    @Test
    void releaseGoesOnToWorkAndItsReasonIsKeptToo() {
        assertThat(script("release", "--yes", "--reason", "old word", "job").code())
                .isZero();
        assertThat(script("why", "job").out()).anyMatch(line -> line.contains("old word"));
    }

    @Test
    @Tag("thorough")
    void whyTellsOfALockThatNobodyHolds() {
        hold.close();
        Cli.Ended ended = script("why", "job");

        assertThat(ended.code()).isZero();
        assertThat(ended.out())
                .contains("lock 'job' on " + cli.store(), "  held by     nobody", "  waiting     0")
                .anyMatch(line -> line.contains("holdfast run job"));
    }

    @Test
    void whyNamesTheHolderAndTheQueue() {
        try (ChildProcess first = cli.start("run", "job", "--", "true");
                LockClient look = cli.client()) {
            await().atMost(SOON).until(() -> look.lock("job").status().waiting() == 1);
            Cli.Ended ended = script("why", "job");

            assertThat(ended.out())
                    .anyMatch(line -> line.matches("  held by +.*\\(nightly\\) for .*, exclusive, token \\d+"))
                    .contains("  waiting     1")
                    .anyMatch(
                            line -> line.matches(" +1\\. .*:" + first.pid() + "/main \\(true.*\\), exclusive, for .*"))
                    .anyMatch(line -> line.contains("holdfast break job"));
        }
    }

    private String home() {
        return "HOME='" + folder + "'";
    }

    private Path journal() {
        return cli.file(".local/state/holdfast/breaks.log");
    }

    private Cli.Ended script(String... args) {
        return Cli.end(cli.script(args)
                .environment("HOME", folder.toString())
                .withoutEnvironment("XDG_STATE_HOME")
                .start());
    }
}
