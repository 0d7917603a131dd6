package dev.holdfast.sqlite;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A client in a process that sees this machine otherwise: in namespaces of its own, with mounts of its own. */
final class Elsewhere {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private Elsewhere() {}

    /** Tries the lock once, says how that went, and keeps what it got until a line comes. */
    static final class Visitor {
        private Visitor() {}

        public static void main(String[] arguments) throws IOException {
            try (LockClient client = LockClient.connect(arguments[0])) {
                Optional<Hold> hold = client.lock(OnOneFile.NAME).tryAcquire();
                System.out.println(hold.isPresent() ? "held" : "busy");
                System.in.read();
            } catch (StoreRefusedException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }

    /** A visitor whose mounts are its own, after a script has changed them. */
    static ChildProcess mounted(String script, Path file) throws Exception {
        return visitor(List.of("unshare", "--mount", "sh", "-ec", script + "; exec \"$@\"", "sh"), file);
    }

    /** A visitor that sees another boot id, as the containers of LXC and systemd-nspawn do. */
    static ChildProcess bootedAs(Path bootId, Path file) throws Exception {
        return mounted("mount --bind '" + bootId + "' /proc/sys/kernel/random/boot_id", file);
    }

    /** A visitor of a file, run by a program such as unshare. */
    static ChildProcess visitor(List<String> prefix, Path file) throws Exception {
        if (!prefix.isEmpty()) {
            assumeTrue(canRun(prefix), "this user may not run " + prefix);
        }
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(Visitor.class.getName(), "sqlite:" + file));
        return ChildProcess.command(command).start();
    }

    /** How it went: held, busy, or refused with the reason. */
    static String answer(ChildProcess visitor) {
        return visitor.expect(line -> line.matches("held|busy|refused: .*"), TIMEOUT);
    }

    private static boolean canRun(List<String> prefix) throws Exception {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor() == 0;
    }
}
