package dev.holdfast.challenge;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process of the controller is stopped, and with it the proxies between workers and store. */
class StoppedControllerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration STOPPED = Duration.ofMillis(1500);
    private static final Duration LIMIT = Duration.ofSeconds(1);

    @TempDir
    private Path folder;

    @Test
    void whatIsLostMeanwhileSaysNothingAboutALockAndNobodyHasWaitedInVain() throws InterruptedException {
        try (ChildProcess controller = ChildJvm.main(Controller.class)
                .args("sqlite:" + folder.resolve("locks.db"))
                .start()) {
            controller.expect("ready", PATIENCE);
            controller.send("mark");
            controller.expect("marked", PATIENCE);
            controller.stop();
            Thread.sleep(STOPPED.toMillis()); // so long is the stop
            controller.cont();
            controller.send("tell");
            controller.expect("stalled true, over false", PATIENCE);
        }
    }

    /** Says whether its pulse saw that it stood still since the mark, and whether a wait since then is over. */
    static final class Controller {
        private Controller() {}

        public static void main(String[] arguments) throws Exception {
            try (LockClient client = LockClient.connect(arguments[0])) {
                client.lock("warm").acquire().close(); // loads the classes, which takes long
            }
            boolean unused = Heat.isOver(System.nanoTime(), LIMIT);
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try (Pulse pulse = Pulse.of(arguments[0])) {
                System.out.println("ready");
                String unusedMark = commands.readLine();
                long mark = System.nanoTime();
                System.out.println("marked");
                String unusedTell = commands.readLine();
                boolean isOver = Heat.isOver(mark, LIMIT);
                boolean isStalled = pulse.stalls().stream()
                        .anyMatch(stall -> stall.ended() - mark > 0
                                && stall.ended() - stall.began()
                                        > STOPPED.minusMillis(100).toNanos());
                System.out.println("stalled " + isStalled + ", over " + isOver);
            }
        }
    }
}
