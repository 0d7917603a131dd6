package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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
            ChildCommand child = ChildCommand.start(List.of("sleep", "60"), Map.of(), false, relay::beforeStart);
            relay.attach(child);
            int code = child.awaitEnd(Cli.SOON) ? child.exitCode() : ExitCode.INTERNAL;
            relay.close();
            System.exit(code);
        }
    }

    /** A Ctrl-C, and when each of the processes that get it notices it; on a busy machine this process may be late. */
    enum Moment {
        /** The command was not there, and this process is notified when the command runs. */
        BEFORE_START_NOTICED_LATE {
            @Override
            ChildCommand start(SignalRelay relay) throws InterruptedException {
                interruptWitness();
                ChildCommand child = counting(relay::beforeStart);
                interruptThisProcess(relay);
                relay.attach(child);
                return child;
            }
        },
        /** The command was not there, and this process is notified when the command runs. */
        IN_START {
            @Override
            ChildCommand start(SignalRelay relay) throws InterruptedException {
                ChildCommand child = sleeping(() -> {
                    relay.beforeStart();
                    interruptWitness();
                });
                interruptThisProcess(relay);
                relay.attach(child);
                return child;
            }
        },
        /** The same, and this process is notified even later. */
        IN_START_NOTICED_LATE {
            @Override
            ChildCommand start(SignalRelay relay) throws InterruptedException {
                ChildCommand child = sleeping(() -> {
                    relay.beforeStart();
                    interruptWitness();
                });
                relay.attach(child);
                Signal.raise(new Signal(OsSignal.INT));
                return child;
            }
        },
        /** The command got it by itself. */
        AFTER_START {
            @Override
            ChildCommand start(SignalRelay relay) throws InterruptedException {
                ChildCommand child = counting(relay::beforeStart);
                Cli.signal(OsSignal.INT, 0); // the whole group
                awaitNotice(relay);
                relay.attach(child);
                return child;
            }
        };

        /** Exits with 40 and the number of times that it was interrupted. */
        private static final String COUNTING = "n=0; trap 'n=$((n + 1))' INT; echo > up; "
                + "while [ $n = 0 ]; do sleep 0.02; done; sleep 0.5; exit $((40 + n))";

        abstract ChildCommand start(SignalRelay relay) throws InterruptedException;

        private static ChildCommand counting(Runnable beforeStart) throws InterruptedException {
            ChildCommand child = ChildCommand.start(List.of("sh", "-c", COUNTING), Map.of(), false, beforeStart);
            while (!Files.exists(Path.of("up"))) {
                Thread.onSpinWait();
            }
            return child;
        }

        private static ChildCommand sleeping(Runnable beforeStart) throws InterruptedException {
            return ChildCommand.start(List.of("sleep", "60"), Map.of(), false, beforeStart);
        }

        private static void interruptWitness() {
            ProcessHandle.current().children().forEach(witness -> Cli.signal(OsSignal.INT, witness.pid()));
        }

        private static void interruptThisProcess(SignalRelay relay) {
            Signal.raise(new Signal(OsSignal.INT));
            awaitNotice(relay);
        }

        private static void awaitNotice(SignalRelay relay) {
            while (relay.kept().isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    /** Gets a Ctrl-C at a moment, and exits as its command does. */
    static final class AtTerminal {
        private AtTerminal() {}

        public static void main(String[] args) throws InterruptedException {
            SignalRelay relay = SignalRelay.install();
            Optional<OsSignal> unused = relay.stopWaiting();
            ChildCommand child = Moment.valueOf(args[0]).start(relay);
            int code = child.awaitEnd(Cli.SOON) ? child.exitCode() : ExitCode.INTERNAL;
            relay.close();
            System.exit(code);
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource
    void controlCReachesTheCommandOnce(Moment moment, @TempDir Path folder) {
        int expected = moment.name().startsWith("IN_START") ? 130 : 41;

        assertThat(Cli.end(atTerminal(folder, moment)).code()).isEqualTo(expected);
    }

    private static ChildProcess atTerminal(Path folder, Moment moment) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return Pseudoterminal.start(
                new Cli(folder),
                "exec '" + java + "' -cp '" + System.getProperty("java.class.path") + "' '" + AtTerminal.class.getName()
                        + "' " + moment);
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
