package dev.holdfast.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The command that runs while the lock is held: it shares our terminal, stdin, stdout, stderr and process group. */
final class ChildCommand {
    private static final Pattern ERRNO = Pattern.compile("error[=:] ?(\\d+)");
    private static final String NO_SUCH_FILE = "2";
    /** Java starts a command by a helper; a signal to the whole process group reaches that too. */
    private static final Pattern HELPER_ENDED = Pattern.compile("spawn helper: .*signal: (\\d+)");

    /** The program itself, by the one who started it. */
    interface Running {
        /** Its handle; of one that has ended already, any that has. */
        ProcessHandle handle();

        /** Waits for its end; false if it still runs after the time. */
        boolean awaitEnd(Duration atMost) throws InterruptedException;

        /** Its exit code, once it has ended; 128 + n when signal n ended it. */
        int exitCode();
    }

    private final Running running;
    private final ProcessFamily family;
    private final SignalSender sender = new SignalSender();

    /**
     * A command that runs.
     *
     * @param holdId what its environment has as {@code HOLDFAST_HOLD_ID}
     */
    ChildCommand(Running running, String holdId) {
        this.running = running;
        this.family = new ProcessFamily(List.of(running.handle()), holdId);
    }

    /**
     * Starts it.
     *
     * @param command what to start
     * @param environment what its environment has besides ours
     * @param byLauncher whether to let the launcher start it, where that keeps descriptors for it
     * @param beforeStart runs when all is prepared, immediately before the command is there
     * @throws CliException with 126 or 127, as shells do
     */
    static ChildCommand start(
            List<String> command, Map<String, String> environment, boolean byLauncher, Runnable beforeStart)
            throws InterruptedException {
        String holdId = environment.getOrDefault(Held.ID_VARIABLE, "");
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        ChildEnvironment.prepare(builder.environment(), environment);
        beforeStart.run();
        try {
            Running started = byLauncher && LauncherStart.isOffered()
                    ? LauncherStart.start(command.get(0), environment)
                    : byJava(command.get(0), builder);
            return new ChildCommand(started, holdId);
        } catch (CliException e) {
            throw e;
        } catch (IOException e) {
            stopAll(ProcessHandle.current().children().toList(), holdId);
            throw new CliException(
                    ExitCode.INTERNAL,
                    "'" + command.get(0) + "' was not started, or was stopped: the part of the launcher that starts"
                            + " commands has ended; run it again",
                    e);
        } catch (Throwable e) {
            // Without a thread to await its end, Java hands out no process, but the command already runs.
            stopAll(ProcessHandle.current().children().toList(), holdId);
            throw e;
        }
    }

    private static Running byJava(String program, ProcessBuilder builder) {
        try {
            return running(builder.start());
        } catch (IOException e) {
            throw notStarted(program, e);
        }
    }

    private static Running running(Process process) {
        return new Running() {
            @Override
            public ProcessHandle handle() {
                return process.toHandle();
            }

            @Override
            public boolean awaitEnd(Duration atMost) throws InterruptedException {
                return process.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS);
            }

            @Override
            public int exitCode() {
                return process.exitValue();
            }
        };
    }

    private static void stopAll(List<ProcessHandle> roots, String holdId) throws InterruptedException {
        try (SignalSender sender = new SignalSender()) {
            List<ProcessHandle> unused = new CommandStop(new ProcessFamily(roots, holdId), sender).run(Duration.ZERO);
        }
    }

    private static NotStartedException notStarted(String program, IOException e) {
        Matcher signal = HELPER_ENDED.matcher(String.valueOf(e.getMessage()));
        if (signal.find()) {
            return endedInStart(program, ExitCode.ofSignal(Integer.parseInt(signal.group(1))), e);
        }
        Matcher errno = ERRNO.matcher(String.valueOf(e.getMessage()));
        return errno.find() && errno.group(1).equals(NO_SUCH_FILE) ? notFound(program, e) : notExecutable(program, e);
    }

    static NotStartedException notFound(String program, @Nullable Throwable cause) {
        return new NotStartedException(
                ExitCode.NOT_FOUND, "command '" + program + "' not found; check its name and $PATH", cause);
    }

    static NotStartedException notExecutable(String program, @Nullable Throwable cause) {
        return new NotStartedException(
                ExitCode.NOT_EXECUTABLE,
                "command '" + program + "' cannot be executed; check its permissions, or start it by its interpreter",
                cause);
    }

    /** A signal came before the program was loaded. */
    static NotStartedException endedInStart(String program, int exitCode, @Nullable Throwable cause) {
        return new NotStartedException(
                exitCode, "command '" + program + "' was ended by a signal before it ran; run it again", cause);
    }

    /** Its process id. */
    long pid() {
        return running.handle().pid();
    }

    /** Waits for its end; false if it still runs after the time. */
    boolean awaitEnd(Duration atMost) throws InterruptedException {
        return running.awaitEnd(atMost);
    }

    /** Its exit code, once it has ended; 128 + n when signal n ended it. */
    int exitCode() {
        return running.exitCode();
    }

    /** Passes a signal on; false if it runs and the signal did not reach it. */
    boolean send(OsSignal signal) {
        ProcessHandle process = running.handle();
        return !process.isAlive()
                || sender.send(Integer.toString(signal.number()), process.pid())
                || !process.isAlive();
    }

    /**
     * Ends it and all its descendants: SIGTERM, and SIGKILL for those still there after the grace.
     *
     * @return those that could not be ended
     */
    List<ProcessHandle> stop(Duration grace) throws InterruptedException {
        return new CommandStop(family, sender).run(grace);
    }

    /**
     * Searches once more for processes that could not be found before, and kills them where that is possible.
     *
     * @return all that go on
     */
    List<ProcessHandle> stopOthers() {
        List<ProcessHandle> found = family.discover();
        found.forEach(ProcessHandle::destroyForcibly);
        return family.alive();
    }
}
