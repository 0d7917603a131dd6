package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
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
