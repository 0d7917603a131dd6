package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.DistributedLock;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The script at a terminal: the command has it as if it had been started directly. */
@Tag("thorough")
class TerminalTest extends OnOwnStore {
    /** Exits with 40 and the number of times that it was interrupted; with 40 if it was not for some seconds. */
    private static final String COUNTING = "n=0; i=0; trap 'n=$((n + 1)); echo INT $n' INT; echo up; "
            + "while [ $n = 0 ] && [ $i -lt 200 ]; do i=$((i + 1)); sleep 0.02; done; sleep 0.5; exit $((40 + n))";

    /** From the grant until the command handles signals, on a machine that is not very busy. */
    private static final Duration LONGEST_START = Duration.ofMillis(50);

    /** How often somebody looks for the grant: much more often than the moments differ. */
    private static final Duration LOOK = Duration.ofMillis(1);

    @Test
    void theCommandReadsTheTerminal() {
        ChildProcess terminal =
                run("echo ask; read line < /dev/tty; echo \"got $line\"; read line; echo \"and $line\"; "
                        + "test -t 0 && test -t 1 && test -t 2 && echo tty");
        terminal.expect("ask", SOON);
        terminal.send("hello");
        terminal.expect("got hello", SOON);
        terminal.send("stdin");

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(ended.out()).contains("and stdin", "tty");
    }

    @Test
    void controlCReachesTheCommandOnceAndItsOwnAnswerCounts() {
        ChildProcess terminal = run(COUNTING);
        terminal.expect("up", SOON);
        terminal.send(Pseudoterminal.CTRL_C);

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isEqualTo(41);
        assertThat(ended.out().stream().filter(line -> line.contains("INT"))).hasSize(1);
    }

    /** In the millisecond before the command is there, a Ctrl-C that it would handle may be lost, and must be typed again. */
    @Test
    void controlCAtAnyMomentOfTheStartIsNeverHandledTwice() {
        int rounds = 16;
        List<Integer> codes = new ArrayList<>();
        try (LockClient client = cli.client()) {
            for (int round = 0; round < rounds; round++) {
                DistributedLock lock = client.lock("job" + round);
                ChildProcess terminal = Pseudoterminal.holdfast(cli, "run", lock.name(), "--", "sh", "-c", COUNTING);
                while (terminal.isAlive() && !lock.status().isHeld()) {
                    LockSupport.parkNanos(LOOK.toNanos()); // not a spin, which takes a core from what is started
                }
                LockSupport.parkNanos(LONGEST_START.toNanos() * round / rounds); // a different moment each time
                terminal.type(Pseudoterminal.CTRL_C);
                codes.add(Cli.end(terminal).code());
            }
        }
        System.out.println("exit codes after Ctrl-C at the start: " + codes);
        assertThat(codes).allMatch(code -> code == 130 || code == 41 || code == 40);
    }

    @Test
    void controlCEndsAnInnocentCommandAsInAShell() {
        ChildProcess terminal = run("echo up; exec sleep 600");
        terminal.expect("up", SOON);
        terminal.send(Pseudoterminal.CTRL_C);

        assertThat(Cli.end(terminal).code()).isEqualTo(130);
        assertFree();
    }

    @Test
    void controlCEndsACommandThatHasAProcessGroupOfItsOwn() {
        ChildProcess terminal = Pseudoterminal.holdfast(
                cli, "run", "job", "--", "timeout", "300", "sh", "-c", "echo up; exec sleep 300");
        terminal.expect("up", SOON);
        terminal.send(Pseudoterminal.CTRL_C);

        assertThat(Cli.end(terminal).code()).isNotZero();
        assertFree();
    }

    @Test
    void anInterruptSentToHoldfastAloneReachesTheCommandInTheForegroundToo() {
        ChildProcess terminal = run("echo parent $PPID; exec sleep 300");
        long holdfast = Long.parseLong(
                terminal.expect("parent ", SOON).substring("parent ".length()).strip());
        Cli.signal("INT", holdfast);

        assertThat(Cli.end(terminal).code()).isEqualTo(130);
        assertFree();
    }

    @Test
    void controlCEndsTheWaitForTheLock() {
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo up; exec sleep 600");
                LockClient client = cli.client()) {
            holder.expect("up", SOON);
            ChildProcess terminal = run("echo in");
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == 1);
            terminal.send(Pseudoterminal.CTRL_C);

            Cli.Ended ended = Cli.end(terminal);
            assertThat(ended.code()).isEqualTo(130);
            assertThat(String.join("\n", ended.out())).contains("SIGINT; the command was not run");
        }
    }

    @Test
    void aTerminalThatIsClosedHangsUpTheCommandAndFreesTheLock() throws IOException {
        ChildProcess terminal = run("trap 'echo hung up > told; exit 0' HUP; echo up; while :; do sleep 0.05; done");
        terminal.expect("up", SOON);
        terminal.kill();

        await().atMost(SOON)
                .until(() -> Files.exists(cli.file("told"))
                        && Files.readString(cli.file("told")).equals("hung up\n"));
        await().atMost(SOON).untilAsserted(this::assertFree);
    }

    @Test
    void controlZStopsBothAndTheyGoOnTogetherWithinTheLease() {
        ChildProcess shell = Pseudoterminal.shell(cli);
        shell.send(
                "\"$HOLDFAST\" run job -- sh -c 'echo up; until [ \"$line\" ]; do read line; done; echo got $line; exit 6'");
        shell.expect("up", SOON);
        shell.send(Pseudoterminal.CTRL_Z);
        shell.expect(line -> line.contains("Stopped"), SOON);
        shell.send("fg; echo code $?");
        shell.send("hello");
        shell.expect("got hello", SOON);
        shell.expect("code 6", SOON);
        shell.send("exit");

        assertThat(Cli.end(shell).code()).isZero();
    }

    @Test
    void controlZPastTheLeaseLosesTheLockAndTheCommandIsEndedWhenItGoesOn() {
        ChildProcess shell = Pseudoterminal.shell(cli);
        shell.send("\"$HOLDFAST\" run --lease 6s job -- sh -c 'echo up; exec sleep 600'; echo code $?");
        shell.expect("up", SOON);
        shell.send(Pseudoterminal.CTRL_Z);
        shell.expect(line -> line.contains("Stopped"), SOON);
        assertThat(cli.run("run", "job", "--", "echo", "the next one").out()).containsExactly("the next one");
        shell.send("fg; echo code $?");
        shell.expect(line -> line.contains("lost") && line.contains("was stopped"), SOON);
        shell.expect("code 79", SOON);
        shell.send("exit");

        assertThat(Cli.end(shell).code()).isZero();
    }

    @Test
    void aJobInTheBackgroundHoldsTheLockAndIsEndedByTheShell() {
        ChildProcess shell = Pseudoterminal.shell(cli);
        shell.send("\"$HOLDFAST\" run job -- sh -c 'echo up; exec sleep 600' &");
        shell.expect("up", SOON);
        shell.send("\"$HOLDFAST\" run --wait 0 job -- true; echo code $?");
        shell.expect("code 75", SOON);
        shell.send("kill %1; wait %1; echo code $?");
        shell.expect("code 143", SOON);
        shell.send("exit");

        assertThat(Cli.end(shell).code()).isZero();
        assertFree();
    }

    @Test
    void theDemoShowsBarsThatMove() {
        ChildProcess terminal = Pseudoterminal.holdfast(cli, "demo", "--processes", "2", "--tickets", "100");

        Cli.Ended ended = Cli.end(terminal);
        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out())).contains("[###", "###] sold 100 of 100");
    }

    private ChildProcess run(String shellCommand) {
        return Pseudoterminal.holdfast(cli, "run", "job", "--", "sh", "-c", shellCommand);
    }

    private void assertFree() {
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status()).isEqualTo(LockStatus.free("job", 0));
        }
    }
}
