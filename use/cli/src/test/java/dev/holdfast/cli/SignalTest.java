package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signals sent to {@code holdfast run}: they reach the command, and the lock is free at once. */
class SignalTest extends OnOwnStore {
    private static final int STORM = 12;
    private static final Duration START_UP = Duration.ofMillis(900);

    @Test
    void aSignalReachesTheCommandWhoseCodeIsPassedOnAndTheLockIsFreeAtOnce() {
        ChildProcess run = cli.start(
                "run",
                "job",
                "--",
                "sh",
                "-c",
                "trap 'echo tidying; exit 3' TERM; echo up; while :; do sleep 0.05; done");
        run.expect("up", SOON);
        run.terminate();

        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(3);
        assertThat(ended.out()).containsExactly("up", "tidying");
        assertThat(ended.err()).isEmpty();
        assertNothingLeft();
    }

    @ParameterizedTest
    @Tag("thorough")
    @CsvSource({"HUP, 129", "INT, 130", "TERM, 143", "USR1, 138"})
    void aCommandThatASignalEndedCountsAsInAShell(String signal, int code) {
        ChildProcess run = cli.start("run", "job", "--", "sh", "-c", "echo up; exec sleep 600");
        run.expect("up", SOON);
        Cli.signal(signal, run.pid());

        assertThat(Cli.end(run).code()).isEqualTo(code);
        assertNothingLeft();
    }

    @ParameterizedTest
    @Tag("thorough")
    @CsvSource({"USR2, 140", "ALRM, 142", "VTALRM, 154", "PROF, 155", "IO, 157", "PWR, 158", "XCPU, 152", "ABRT, 134"})
    void noSignalThatWouldEndHoldfastLeavesTheCommandBehind(String signal, int code) {
        ChildProcess run = cli.script("run", "job", "--", "sh", "-c", "echo up $$; exec sleep 600")
                .start();
        long command = Long.parseLong(run.expect("up ", SOON).substring("up ".length()));
        Cli.signal(signal, run.pid());

        assertThat(Cli.end(run).code()).isEqualTo(code);
        assertThat(Cli.isAlive(command)).isFalse();
        assertNothingLeft();
    }

    @Test
    @Tag("thorough")
    void aCommandMayIgnoreASignalAndGetsTheNextOneToo() {
        ChildProcess run = cli.start(
                "run",
                "job",
                "--",
                "sh",
                "-c",
                "n=0; trap 'n=$((n + 1)); echo TERM $n' TERM; echo up; while [ $n -lt 2 ]; do sleep 0.02; done; exit 4");
        run.expect("up", SOON);
        run.terminate();
        run.expect("TERM 1", SOON);
        run.terminate();
        run.expect("TERM 2", SOON);

        assertThat(Cli.end(run).code()).isEqualTo(4);
    }

    @Test
    @Tag("thorough")
    void aSignalThatWasIgnoredAtTheStartStaysSoForTheCommandToo() {
        Cli.Ended ended = Cli.end(cli.shell(
                        "sh",
                        "-c",
                        "trap '' USR1; exec \"$HOLDFAST\" run job -- sh -c 'kill -s USR1 $PPID $$; echo still here'")
                .start());

        assertThat(ended.code()).isZero();
        assertThat(ended.out()).containsExactly("still here");
    }

    @Test
    @Tag("thorough")
    void aSignalThatEndedOurHelperShellDoesNotKeepTheNextOneFromTheCommand() {
        ChildProcess run = cli.script(
                        "run",
                        "job",
                        "--",
                        "sh",
                        "-c",
                        "trap 'echo USR1' USR1; trap 'exit 4' TERM; echo up; while :; do sleep 0.02; done")
                .start();
        run.expect("up", SOON);
        Cli.signal("USR1", run.pid());
        run.expect("USR1", SOON);
        ProcessHandle.of(run.pid())
                .orElseThrow()
                .children()
                .filter(child -> child.info().arguments().map(Arrays::asList).stream()
                        .anyMatch(arguments -> arguments.toString().contains("read -r signal pid")))
                .forEach(ProcessHandle::destroyForcibly);
        run.terminate();

        Cli.Ended ended = Cli.end(run);
        assertThat(ended.code()).isEqualTo(4);
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void aSignalEndsTheWaitForTheLockAndLeavesNothingBehind() {
        assertEndsTheWait("TERM", 143);
    }

    @Test
    @Tag("thorough")
    void soDoesAnInterrupt() {
        assertEndsTheWait("INT", 130);
    }

    private void assertEndsTheWait(String signal, int code) {
        try (ChildProcess holder = cli.start("run", "job", "--", "sh", "-c", "echo up; exec sleep 600");
                LockClient client = cli.client()) {
            holder.expect("up", SOON);
            ChildProcess waiter = cli.start("run", "job", "--", "echo", "in");
            await().atMost(SOON).until(() -> client.lock("job").status().waiting() == 1);
            Cli.signal(signal, waiter.pid());

            Cli.Ended ended = Cli.end(waiter);
            assertThat(ended.code()).isEqualTo(code);
            assertThat(ended.out()).isEmpty();
            assertThat(ended.err()).singleElement().asString().contains("'job'", "SIG" + signal, "not run");
            assertThat(client.lock("job").status().waiting()).isZero();
            assertThat(holder.isAlive()).isTrue();
        }
    }

    @Test
    void aSignalAtAnyMomentOfTheStartLeavesNeitherLockNorCommandBehind() {
        for (int i = 0; i < STORM; i++) {
            String length = "61." + (i + 10);
            ChildProcess run = cli.start("run", "job", "--", "sleep", length);
            LockSupport.parkNanos(START_UP.toNanos() * i / STORM); // a different moment each time is the point
            run.terminate();

            Cli.Ended ended = Cli.end(run);
            if (!isBeforeTheProgram(ended)) {
                assertThat(ended.code()).as("signal no. %d: %s", i, ended).isEqualTo(143);
            }
            await().atMost(SOON).until(() -> ProcessHandle.allProcesses().noneMatch(p -> isSleep(p, length)));
            assertNothingLeft();
        }
    }

    /**
     * A signal between two phases of the JVM's own start, before any code of ours: the JVM then fails at the second one
     * ("Bad level", jdk.internal.misc.VM), says so, and ends with 1.
     */
    private static boolean isBeforeTheProgram(Cli.Ended ended) {
        return ended.code() == 1 && ended.out().contains("Error occurred during initialization of VM");
    }

    private void assertNothingLeft() {
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status()).isEqualTo(LockStatus.free("job", 0));
        }
    }

    private static boolean isSleep(ProcessHandle process, String length) {
        return process.info()
                        .arguments()
                        .map(args -> Arrays.asList(args).contains(length))
                        .orElse(false)
                && process.info()
                        .command()
                        .map(command -> !command.endsWith("java"))
                        .orElse(true);
    }
}
