package dev.holdfast.cli;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The command as started by a part of the launcher, which keeps the descriptors from 3 on: Java would close them.
 *
 * <pre>
 *   us        NAME=VALUE NUL ... NUL ──►
 *   launcher                             ◄── "pid N"   ◄── "end CODE"
 * </pre>
 */
final class LauncherStart implements ChildCommand.Running {
    /** Set by the launcher: its part's process id, the descriptor to write to, the descriptor to read from. */
    static final String VARIABLE = "HOLDFAST_STARTER";

    private static final String PID = "pid ";
    private static final String END = "end ";
    private static final int KILLED = 137;
    /** How programs in the C locale of Java pass their bytes: as this JVM reads its arguments. */
    private static final Charset NATIVE = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    private final ProcessHandle handle;
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    private LauncherStart(ProcessHandle handle) {
        this.handle = handle;
    }

    /** Whether the launcher keeps descriptors for the command. */
    static boolean isOffered() {
        return System.getenv(VARIABLE) != null;
    }

    /**
     * Has the launcher start the command that it was itself called with.
     *
     * @param program the command's name, for messages
     * @param environment what its environment has besides the launcher's
     * @throws CliException with 126 or 127, as shells do
     * @throws IOException if the launcher's part has ended; the command may run, or not
     */
    static LauncherStart start(String program, Map<String, String> environment) throws IOException {
        String[] offer = Objects.requireNonNull(System.getenv(VARIABLE)).split(":");
        BufferedReader answers = new BufferedReader(
                new InputStreamReader(new FileInputStream("/dev/fd/" + offer[2]), StandardCharsets.US_ASCII));
        try (OutputStream ask = new FileOutputStream("/dev/fd/" + offer[1])) {
            ask.write(request(environment).getBytes(NATIVE));
        }
        String answer = answers.readLine();
        if (answer == null) {
            throw new EOFException("the launcher's part that starts commands has ended");
        }
        if (!answer.startsWith(PID)) {
            throw refused(program, answer);
        }
        Optional<ProcessHandle> command = ProcessHandle.of(Long.parseLong(answer.substring(PID.length())));
        // A command that has ended already has no handle any more; its starter has.
        LauncherStart started = new LauncherStart(command.or(() -> ProcessHandle.of(Long.parseLong(offer[0])))
                .orElseThrow(() -> new EOFException("the launcher's part that starts commands has ended")));
        Thread watcher = new Thread(() -> started.awaitEnd(answers), "holdfast-command-end");
        watcher.setDaemon(true);
        watcher.start();
        return started;
    }

    private static String request(Map<String, String> environment) {
        StringBuilder request = new StringBuilder();
        environment.forEach(
                (name, value) -> request.append(name).append('=').append(value).append('\0'));
        return request.append('\0').toString();
    }

    private static RuntimeException refused(String program, String answer) {
        int code = Integer.parseInt(answer.substring(END.length()));
        return switch (code) {
            case ExitCode.NOT_FOUND -> ChildCommand.notFound(program, null);
            case ExitCode.NOT_EXECUTABLE -> ChildCommand.notExecutable(program, null);
            default -> ChildCommand.endedInStart(program, code, null);
        };
    }

    private void awaitEnd(BufferedReader answers) {
        String answer;
        try {
            answer = answers.readLine();
        } catch (IOException e) {
            answer = null;
        }
        if (answer != null && answer.startsWith(END)) {
            end.complete(Integer.parseInt(answer.substring(END.length())));
        } else { // somebody killed the starter: its exit code is lost, its end is not
            handle.onExit().join();
            end.complete(KILLED);
        }
    }

    @Override
    public ProcessHandle handle() {
        return handle;
    }

    @Override
    public boolean awaitEnd(Duration atMost) throws InterruptedException {
        try {
            @Nullable Integer unused = end.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public int exitCode() {
        return end.join();
    }
}
