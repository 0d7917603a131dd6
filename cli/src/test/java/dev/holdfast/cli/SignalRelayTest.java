package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sun.misc.Signal;

/** The few milliseconds in which the lock is granted and the command not yet started. */
class SignalRelayTest {
    private static final String WAITING = "waiting";
    private static final String DECIDING = "deciding";

    /** Signals itself at the moment it is told, and exits as the command does. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) throws InterruptedException {
            SignalRelay relay = SignalRelay.install();
            if (args[0].equals(DECIDING)) {
                relay.stopWaiting();
            }
            Signal.raise(new Signal("TERM"));
            while (relay.stopWaiting().isEmpty()) {
                Thread.onSpinWait();
            }
            if (Thread.interrupted()) {
                System.out.println("interrupted");
            }
            ChildCommand child = ChildCommand.start(List.of("sleep", "60"), Map.of(), false);
            relay.attach(child);
            System.exit(child.awaitEnd(Cli.SOON) ? child.exitCode() : ExitCode.INTERNAL);
        }
    }

    /** Gets Ctrl-C, as a terminal sends it, when its command runs already and is not attached yet. */
    static final class AtTerminal {
        private static final String COUNTING = "n=0; trap 'n=$((n + 1))' INT; sleep 0.05; echo > up; "
                + "while [ $n = 0 ]; do sleep 0.02; done; sleep 0.5; exit $((40 + n))";

        private AtTerminal() {}

        public static void main(String[] args) throws InterruptedException, IOException {
            SignalRelay relay = SignalRelay.install();
            Optional<OsSignal> none = relay.stopWaiting();
            ChildCommand child = ChildCommand.start(List.of("sh", "-c", COUNTING), Map.of(), false);
            while (none.isEmpty() && !Files.exists(Path.of("up"))) {
                Thread.onSpinWait();
            }
            new ProcessBuilder("sh", "-c", "kill -INT 0").start();
            while (relay.stopWaiting().isEmpty()) {
                Thread.onSpinWait();
            }
            relay.attach(child);
            System.exit(child.awaitEnd(Cli.SOON) ? child.exitCode() : ExitCode.INTERNAL);
        }
    }

    /** Gets Ctrl-C before its command runs, and notices it, as on a busy machine, only when the command does. */
    static final class LateAtTerminal {
        private LateAtTerminal() {}

        public static void main(String[] args) throws InterruptedException, IOException {
            SignalRelay relay = SignalRelay.install();
            Optional<OsSignal> none = relay.stopWaiting();
            ProcessHandle.current().children().forEach(witness -> Cli.signal(OsSignal.INT, witness.pid()));
            relay.beforeStart();
            ChildCommand child = ChildCommand.start(List.of("sh", "-c", AtTerminal.COUNTING), Map.of(), false);
            while (none.isEmpty() && !Files.exists(Path.of("up"))) {
                Thread.onSpinWait();
            }
            Signal.raise(new Signal(OsSignal.INT));
            while (relay.stopWaiting().isEmpty()) {
                Thread.onSpinWait();
            }
            relay.attach(child);
            System.exit(child.awaitEnd(Cli.SOON) ? child.exitCode() : ExitCode.INTERNAL);
        }
    }

    @Test
    void controlCThatCameBeforeTheCommandAndIsNoticedLateReachesIt(@TempDir Path folder) {
        assertThat(Cli.end(atTerminal(folder, LateAtTerminal.class)).code()).isEqualTo(41);
    }

    @Test
    void controlCThatTheCommandGotBeforeItWasAttachedIsNotSentAgain(@TempDir Path folder) {
        assertThat(Cli.end(atTerminal(folder, AtTerminal.class)).code()).isEqualTo(41);
    }

    private static ChildProcess atTerminal(Path folder, Class<?> program) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return Pseudoterminal.start(
                new Cli(folder),
                "exec '" + java + "' -cp '" + System.getProperty("java.class.path") + "' '" + program.getName() + "'");
    }

    @Test
    void aSignalBeforeTheCommandIsThereIsKeptForIt() {
        assertThat(run(DECIDING)).isEqualTo(new Cli.Ended(143, List.of(), List.of()));
    }

    @Test
    void theInterruptThatEndedTheWaitIsNotLeftForWhatComesAfter() {
        assertThat(run(WAITING)).isEqualTo(new Cli.Ended(143, List.of(), List.of()));
    }

    private static Cli.Ended run(String moment) {
        return Cli.end(ChildJvm.main(Program.class).args(moment).start());
    }
}
