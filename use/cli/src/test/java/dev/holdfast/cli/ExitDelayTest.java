package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An exit of the JVM that {@code holdfast run} has not begun: by the JVM's own handler of a signal, or by anybody. */
@Tag("thorough")
class ExitDelayTest extends OnOwnStore {
    private static final int CODE = 143;

    /** Runs the command line while the process is exiting already, and says whether it went on to its end. */
    static final class RunInExit {
        private static volatile boolean wentOn;

        private RunInExit() {}

        public static void main(String[] args) throws InterruptedException {
            CountDownLatch exiting = new CountDownLatch(1);
            Thread main = Thread.currentThread();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                exiting.countDown();
                while (!wentOn && !isHeldBack(main)) {
                    Thread.onSpinWait();
                }
                System.out.println(wentOn ? "went on" : "held back");
            }));
            new Thread(() -> System.exit(CODE)).start();
            exiting.await();
            int unused = Main.run(args);
            wentOn = true;
        }

        private static boolean isHeldBack(Thread main) {
            return main.getState() == Thread.State.WAITING
                    && Arrays.stream(main.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals(ExitDelay.class.getName()));
        }
    }

    /** Runs the command line, and exits when the other process asks for it. */
    static final class ExitInRun {
        private ExitInRun() {}

        public static void main(String[] args) {
            new Thread(ExitInRun::exitWhenAsked).start();
            System.exit(Main.run(args));
        }

        private static void exitWhenAsked() {
            try {
                int unused = System.in.read();
            } catch (IOException e) {
                // the same as being asked
            }
            System.exit(CODE);
        }
    }

    @Test
    void aRunThatBeginsWhileTheProcessExitsAcquiresNothing() {
        ChildProcess run =
                cli.jvm(RunInExit.class).args("run", "job", "--", "echo", "ran").start();

        Cli.Ended ended = Cli.end(run);
        assertThat(ended.out()).containsExactly("held back");
        assertThat(ended.code()).isEqualTo(CODE);
        assertNothingLeft();
    }

    @Test
    void anExitEndsTheCommandAndReleasesTheLockFirst() {
        ChildProcess run = cli.jvm(ExitInRun.class)
                .args("run", "job", "--", "sh", "-c", "echo up $$; exec sleep 600")
                .start();
        long command = Long.parseLong(run.expect("up ", Cli.SOON).substring("up ".length()));
        run.send("exit");

        assertThat(Cli.end(run).code()).isEqualTo(CODE);
        assertThat(Cli.isAlive(command)).isFalse();
        assertNothingLeft();
    }

    @Test
    void anExitTakesAWaiterOutOfTheQueue() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire()) {
            ChildProcess run =
                    cli.jvm(ExitInRun.class).args("run", "job", "--", "true").start();
            await().atMost(Cli.SOON).until(() -> client.lock("job").status().waiting() == 1);
            run.send("exit");

            assertThat(Cli.end(run).code()).isEqualTo(CODE);
            assertThat(client.lock("job").status().waiting()).isZero();
            assertThat(hold.isValid()).isTrue();
        }
    }

    private void assertNothingLeft() {
        try (LockClient client = cli.client()) {
            assertThat(client.lock("job").status()).isEqualTo(LockStatus.free("job", 0));
        }
    }
}
