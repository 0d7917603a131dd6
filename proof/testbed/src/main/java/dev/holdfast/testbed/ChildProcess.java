package dev.holdfast.testbed;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A process to talk to, to stop and to kill.
 *
 * <pre>{@code
 * try (ChildProcess worker = ChildProcess.command("./holdfast", "run", "job", "--", "sleep", "60").start()) {
 *     worker.expect("holding", Duration.ofSeconds(10));
 *     worker.stop();      // SIGSTOP: when this returns, no thread of it runs
 *     worker.cont();
 *     worker.kill();      // SIGKILL: when this returns, it is gone
 * }
 * }</pre>
 *
 * <p>Its output is read all the time, so it never blocks on a full pipe. Its standard input stays open until
 * {@link #closeInput} or {@link #close}. Signals go to this one process, not to its children; {@code close} ends both.
 * What still lives when this JVM exits is killed by a shutdown hook (which cannot run when this JVM is killed by
 * SIGKILL).
 *
 * <p>Thread-safe. What was awaited and did not come is an {@link AssertionError} that shows all output so far.
 */
public final class ChildProcess implements AutoCloseable {
    /** How long the last lines of a dead child may take; only a grandchild that keeps the pipe open needs it all. */
    private static final Duration LAST_LINES = Duration.ofSeconds(5);

    private final String name;
    private final Process process;
    private final Transcript transcript = new Transcript();
    private final ChildOutput stdout = new ChildOutput(transcript, Transcript.Source.OUT, this::story);
    private final ChildOutput stderr = new ChildOutput(transcript, Transcript.Source.ERR, this::story);
    private final BufferedWriter input;
    private final Runnable endAtExit = this::killTree;

    private ChildProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.input = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        AtExit.run(endAtExit);
        CompletableFuture<Void> unused = process.onExit().thenRun(() -> AtExit.forget(endAtExit));
        OutputPump.start(process.pid(), process.getInputStream(), transcript, Transcript.Source.OUT);
        OutputPump.start(process.pid(), process.getErrorStream(), transcript, Transcript.Source.ERR);
    }

    /** Begins the description of a process; each element is one argument, blanks and all. */
    public static Builder command(String... command) {
        return command(List.of(command));
    }

    /** The same, from a list. */
    public static Builder command(List<String> command) {
        return new Builder(command);
    }

    /** The process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process has not ended; a stopped one is alive. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGKILL and returns when the process is gone; does nothing to a dead one. */
    public void kill() {
        Signals.kill(List.of(process.toHandle()));
        awaitCollected();
    }

    /** Sends SIGTERM and returns at once: a process may take its time, or ignore it. */
    public void terminate() {
        Signals.terminate(process.toHandle());
    }

    /**
     * Sends SIGSTOP and returns when every thread is proven stopped.
     *
     * @throws AssertionError when the process has ended
     */
    public void stop() {
        Signals.stop(process.toHandle());
    }

    /**
     * Sends SIGCONT and returns when no thread is stopped any more.
     *
     * @throws AssertionError when the process has ended
     */
    public void cont() {
        Signals.cont(process.toHandle());
    }

    /**
     * Awaits the end of the process and of its output.
     *
     * @return the exit code; 128 + n after signal n
     * @throws AssertionError when it still runs after the patience
     */
    public int waitFor(Duration patience) {
        try {
            if (!process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("still alive after " + patience + ": " + story());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while awaiting the end of " + story(), e);
        }
        transcript.awaitEnd(LAST_LINES);
        return process.exitValue();
    }

    /**
     * The processor time used by all threads of the process since it began, to about 10 ms.
     *
     * @throws IllegalStateException when the process has ended
     */
    public Duration cpuTime() {
        return process.toHandle()
                .info()
                .totalCpuDuration()
                .orElseThrow(() -> new IllegalStateException("no processor time known of " + story()));
    }

    /**
     * Writes a line to the standard input of the process. Blocks when a process that does not read has let the pipe
     * (64 KiB) fill up.
     *
     * @throws AssertionError when the process no longer takes input
     */
    public void send(String line) {
        type(line + "\n");
    }

    /** Writes characters to the standard input of the process as they are, without the end of a line: Ctrl-C, a TAB. */
    public void type(String characters) {
        String shown = characters.stripTrailing();
        transcript.add(Transcript.Source.IN, shown);
        try {
            input.write(characters);
            input.flush();
        } catch (IOException e) {
            throw new AssertionError("cannot send \"" + shown + "\" to " + story(), e);
        }
    }

    /** Ends the standard input of the process: it reads end of file. */
    public void closeInput() {
        try {
            input.close();
        } catch (IOException e) {
            // The pipe is broken: the process cannot read from it, which is what was asked for.
        }
    }

    /** What it prints to its standard output. */
    public ChildOutput stdout() {
        return stdout;
    }

    /** What it prints to its standard error. */
    public ChildOutput stderr() {
        return stderr;
    }

    /** All lines of the standard output so far; short for {@code stdout().lines()}. */
    public List<String> lines() {
        return stdout.lines();
    }

    /** Awaits a line of the standard output; short for {@link ChildOutput#expect(String, Duration)}. */
    public String expect(String prefix, Duration patience) {
        return stdout.expect(prefix, patience);
    }

    /** Awaits a line of the standard output; short for {@link ChildOutput#expect(Pattern, Duration)}. */
    public MatchResult expect(Pattern pattern, Duration patience) {
        return stdout.expect(pattern, patience);
    }

    /** Awaits a line of the standard output; short for {@link ChildOutput#expect(Predicate, Duration)}. */
    public String expect(Predicate<String> wanted, Duration patience) {
        return stdout.expect(wanted, patience);
    }

    /** What it is, how it is, and all that was said so far, for the message of a failure. */
    public String story() {
        String state = process.isAlive() ? "alive" : "exited with " + process.exitValue();
        return this + ", " + state + ", which said:\n" + transcript;
    }

    /** Kills the process and its children, and returns when they are gone. May be called again. */
    @Override
    public void close() {
        killTree();
        closeInput();
        transcript.awaitEnd(LAST_LINES);
    }

    @Override
    public String toString() {
        return name + " (pid " + pid() + ")";
    }

    /** The process first, then its descendants. */
    List<ProcessHandle> tree() {
        return Stream.concat(Stream.of(process.toHandle()), process.descendants())
                .toList();
    }

    void killTree() {
        // Listed before the first dies: then its children go to another parent and cannot be found any more.
        Signals.kill(tree());
        awaitCollected();
    }

    private void awaitCollected() {
        // Dead by now; this makes sure that isAlive() and the exit code say so too. join() cannot be interrupted.
        process.onExit().join();
    }

    /** What to start, and how; {@link #start} may be called more than once. Not thread-safe. */
    public static final class Builder {
        private final List<String> command;
        private final Map<String, @Nullable String> environment = new LinkedHashMap<>();
        private @Nullable Path directory;
        private @Nullable Path log;

        private Builder(List<String> command) {
            this.command = new ArrayList<>(command);
        }

        /** Adds arguments. */
        public Builder args(String... arguments) {
            command.addAll(List.of(arguments));
            return this;
        }

        /** Sets a variable; the others are those of this JVM. */
        public Builder environment(String variable, String value) {
            environment.put(variable, value);
            return this;
        }

        /** Takes a variable of this JVM away from the child. */
        public Builder withoutEnvironment(String variable) {
            environment.put(variable, null);
            return this;
        }

        /** Runs it in the folder; otherwise in that of this JVM. */
        public Builder directory(Path folder) {
            directory = folder;
            return this;
        }

        /** Appends all output to the file; {@code expect} and {@code lines} then see none of it. */
        Builder log(Path file) {
            log = file;
            return this;
        }

        /**
         * Starts the process.
         *
         * @throws UncheckedIOException when the command cannot be run
         */
        public ChildProcess start() {
            ProcessBuilder builder = new ProcessBuilder(command);
            // Null takes a variable away.
            environment.forEach((variable, value) -> builder.environment().compute(variable, (key, old) -> value));
            if (directory != null) {
                builder.directory(directory.toFile());
            }
            if (log != null) {
                builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            }
            try {
                return new ChildProcess(String.join(" ", command), builder.start());
            } catch (IOException e) {
                throw new UncheckedIOException("cannot start " + command, e);
            }
        }
    }
}
