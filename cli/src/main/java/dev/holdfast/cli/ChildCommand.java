package dev.holdfast.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command that runs while the lock is held: it shares our terminal, stdin, stdout, stderr and process group. */
final class ChildCommand {
    private static final Pattern ERRNO = Pattern.compile("error[=:] ?(\\d+)");
    private static final String NO_SUCH_FILE = "2";
    /** How often a stopped family is looked at. Descendants are no children of ours: nothing tells of their end. */
    private static final long LOOK_MILLIS = 10;
    /** After SIGKILL only a process stuck in the kernel is still there. */
    private static final Duration KILLED = Duration.ofSeconds(1);

    private final Process process;

    private ChildCommand(Process process) {
        this.process = process;
    }

    /**
     * Starts it.
     *
     * @throws CliException with 126 or 127, as shells do
     */
    static ChildCommand start(List<String> command, Map<String, String> environment) {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        ChildEnvironment.prepare(builder.environment(), environment);
        try {
            return new ChildCommand(builder.start());
        } catch (IOException e) {
            throw notStarted(command.get(0), e);
        }
    }

    private static CliException notStarted(String program, IOException e) {
        Matcher errno = ERRNO.matcher(String.valueOf(e.getMessage()));
        if (errno.find() && errno.group(1).equals(NO_SUCH_FILE)) {
            return new CliException(
                    ExitCode.NOT_FOUND, "command '" + program + "' not found; check its name and $PATH", e);
        }
        return new CliException(
                ExitCode.NOT_EXECUTABLE,
                "command '" + program + "' cannot be executed; check its permissions, or start it by its interpreter",
                e);
    }

    /** Waits for its end; false if it still runs after the time. */
    boolean awaitEnd(Duration atMost) throws InterruptedException {
        return process.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Its exit code, once it has ended; 128 + n when signal n ended it. */
    int exitCode() {
        return process.exitValue();
    }

    /** Passes a signal on. Java can send no other than SIGTERM and SIGKILL: the shell's kill, always there, can. */
    void send(OsSignal signal) {
        if (!process.isAlive()) {
            return;
        }
        try {
            new ProcessBuilder("/bin/sh", "-c", "kill -s \"$0\" \"$1\"", signal.name(), Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            process.toHandle().destroy(); // asked to end it, in nearly all cases; better that than deaf
        }
    }

    /** Ends it and all its descendants: SIGTERM, and SIGKILL for those still there after the grace. */
    void stop(Duration grace) throws InterruptedException {
        Set<ProcessHandle> family = new LinkedHashSet<>();
        terminateNewcomers(family);
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < grace.toNanos() && anyAlive(family)) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            terminateNewcomers(family);
        }
        family.forEach(ProcessHandle::destroyForcibly);
        process.waitFor();
        long killed = System.nanoTime();
        while (System.nanoTime() - killed < KILLED.toNanos() && anyAlive(family)) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    /** Once its parent has ended, a descendant is found no more: all who are seen are remembered. */
    private void terminateNewcomers(Set<ProcessHandle> family) {
        for (ProcessHandle known : List.copyOf(family)) {
            known.descendants().filter(family::add).forEach(ProcessHandle::destroy);
        }
        if (family.add(process.toHandle())) {
            List<ProcessHandle> descendants = process.descendants().toList();
            process.toHandle().destroy();
            descendants.stream().filter(family::add).forEach(ProcessHandle::destroy);
        }
    }

    private static boolean anyAlive(Set<ProcessHandle> family) {
        return !family.stream().allMatch(ProcStat::hasEnded);
    }
}
