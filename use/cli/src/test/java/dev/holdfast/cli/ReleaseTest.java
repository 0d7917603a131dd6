package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast release} asks before it breaks a lock; {@link CommandLineContract} has what it does then. */
@Tag("thorough")
class ReleaseTest extends OnOwnStore {
    private static final String END_OF_INPUT = "\004";

    @AutoClose
    private LockClient client;

    private Hold hold;

    @BeforeEach
    void someoneHoldsALock() throws InterruptedException {
        client = LockClient.builder(cli.store()).label("nightly").build();
        hold = client.lock("job").acquire();
    }

    @ParameterizedTest
    @ValueSource(strings = {"y", "yes", " YES "})
    void aYesAtTheTerminalBreaksTheLock(String answer) {
        ChildProcess terminal = Pseudoterminal.holdfast(cli, "release", "job");
        terminal.expect(line -> line.contains("held by") && line.contains("(nightly)"), SOON);
        terminal.send(answer);

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out())).contains("broke lock 'job'");
        assertThat(client.breakGrant("job", hold.token(), true))
                .as("it is kept for the rest of its lease")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"n", "", "yesterday", END_OF_INPUT})
    void anythingElseLeavesItAsItIs(String answer) {
        ChildProcess terminal = Pseudoterminal.holdfast(cli, "release", "--now", "job");
        terminal.expect(line -> line.contains("only resources that check tokens are safe"), SOON);
        terminal.send(answer);

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isEqualTo(ExitCode.NOTHING_BROKEN);
        assertThat(String.join("\n", ended.out())).contains("nothing was broken");
        assertHeld();
    }

    @Test
    void controlCAtTheQuestionLeavesItAsItIs() {
        ChildProcess terminal = Pseudoterminal.holdfast(cli, "release", "job");
        terminal.expect(line -> line.contains("held by"), SOON);
        terminal.type(Pseudoterminal.CTRL_C); // a line end would be an answer

        assertThat(Cli.end(terminal).code()).isEqualTo(130);
        assertHeld();
    }

    @Test
    void aLockThatChangedHandsDuringTheQuestionIsLeftAlone() throws InterruptedException {
        ChildProcess terminal = Pseudoterminal.holdfast(cli, "release", "job");
        terminal.expect(line -> line.contains("held by"), SOON);
        hold.close();
        try (LockClient other = cli.client();
                Hold next = other.lock("job").acquire()) {
            terminal.send("y");

            Cli.Ended ended = Cli.end(terminal);
            assertThat(ended.code()).isEqualTo(ExitCode.NOTHING_BROKEN);
            assertThat(String.join("\n", ended.out())).contains("changed hands");
            assertThat(client.lock("job").status().grant().orElseThrow().token())
                    .isEqualTo(next.token());
        }
    }

    @Test
    void withoutATerminalItRefusesToAskAndBreaksNothing() {
        ChildProcess release = cli.start("release", "job");
        release.send("y");

        Cli.Ended ended = Cli.end(release);
        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("'job'", "--yes");
        assertHeld();
    }

    private void assertHeld() {
        assertThat(client.lock("job").status().grant().orElseThrow().token()).isEqualTo(hold.token());
    }
}
