package dev.holdfast.testbed;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A real server in a private folder on private ports, to stop, to kill and to start again.
 *
 * <pre>{@code
 * try (ServerProcess etcd = ServerProcess.named("etcd")
 *         .command(home -> List.of("etcd", "--data-dir", home.folder().toString(), ...))
 *         .start()) {          // returns when the server is ready
 *     etcd.kill();             // as if the machine lost power
 *     etcd.restart();          // same folder, same ports; returns when it is ready again
 * }                            // ended by its process id, the folder deleted
 * }</pre>
 *
 * <p>Signals reach the process that was started and all its descendants. What lives when this JVM exits is killed and
 * deleted by a shutdown hook. Signals may be sent from any thread; {@code restart} and {@code close} are for one thread
 * at a time.
 */
public final class ServerProcess implements AutoCloseable {
    private final Builder plan;
    private final ServerHome home;
    private final ServerLog log;
    private final Runnable endAtExit = this::end;
    private volatile ChildProcess process;

    private ServerProcess(Builder plan) {
        this.plan = plan;
        this.home = new ServerHome(
                Folders.create(plan.name),
                Stream.generate(Ports::free).limit(plan.ports).toList());
        this.log = new ServerLog(home.folder().resolve("server.log"));
        try {
            plan.preparation.accept(home);
            this.process = launch();
        } catch (RuntimeException | Error e) {
            Folders.delete(home.folder());
            throw e;
        }
        AtExit.run(endAtExit);
    }

    /** Begins the description of a server; the name stands in messages and in the name of its folder. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** Its folder and ports. */
    public ServerHome home() {
        return home;
    }

    /** The first of its ports. */
    public int port() {
        return home.port();
    }

    /** The id of the process that was started last. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process that was started last has not ended; a stopped one is alive. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** All that it wrote to standard output and standard error, over all restarts. */
    public String log() {
        return log.all();
    }

    /** The processor time used since the last start; without that of its child processes. */
    public Duration cpuTime() {
        return process.cpuTime();
    }

    /** Sends SIGKILL to the server and its children, and returns when they are gone. */
    public void kill() {
        process.killTree();
    }

    /** Sends SIGTERM and returns at once; see {@link #waitFor}. */
    public void terminate() {
        process.terminate();
    }

    /**
     * Awaits the end of the process.
     *
     * @return the exit code; 128 + n after signal n
     * @throws AssertionError when it still runs after the patience
     */
    public int waitFor(Duration patience) {
        return process.waitFor(patience);
    }

    /** Sends SIGSTOP to the server and its children, and returns when all are proven stopped. */
    public void stop() {
        Signals.stop(process.tree().get(0));
        process.tree().stream().skip(1).forEach(Signals::stopChild); // from now on there are no new ones
    }

    /** Sends SIGCONT to the server and its children, and returns when none is stopped any more. */
    public void cont() {
        List<ProcessHandle> tree = process.tree();
        Signals.cont(tree.get(0));
        tree.stream().skip(1).forEach(Signals::contChild);
    }

    /**
     * Kills the server if it lives, and starts it again in the same folder on the same ports.
     *
     * @throws AssertionError when it is not ready in time, with the end of its log
     */
    public void restart() {
        kill();
        process = launch();
    }

    /** Kills the server and its children and deletes the folder. May be called again. */
    @Override
    public void close() {
        end();
        AtExit.forget(endAtExit);
    }

    @Override
    public String toString() {
        return plan.name + " (pid " + pid() + ", port " + port() + ")";
    }

    private void end() {
        process.close();
        Folders.delete(home.folder());
    }

    private ChildProcess launch() {
        log.mark();
        ChildProcess.Builder builder = ChildProcess.command(plan.command.apply(home))
                .directory(home.folder())
                .log(log.file());
        plan.environment.forEach(builder::environment);
        ChildProcess started = builder.start();
        try {
            awaitReady(started);
            return started;
        } catch (RuntimeException | Error e) {
            started.close();
            throw e;
        }
    }

    private void awaitReady(ChildProcess started) {
        // Asked last whether it lives: a stranger on the port may have answered for a server that could not bind.
        boolean ready =
                Await.until(plan.patience, () -> !started.isAlive() || plan.ready.test(home, log)) && started.isAlive();
        if (!ready) {
            String how = started.isAlive()
                    ? "was not ready within " + plan.patience
                    : "ended with " + started.waitFor(plan.patience) + " before it was ready";
            throw new AssertionError(plan.name + " " + how + ": " + started + "\nThe end of its log:\n" + log.tail());
        }
    }

    private interface Readiness {
        boolean test(ServerHome home, ServerLog log);
    }

    /** What to start, and how; {@link #start} may be called more than once. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final Map<String, String> environment = new LinkedHashMap<>();
        private Function<ServerHome, List<String>> command = home -> List.of();
        private Consumer<ServerHome> preparation = home -> {};
        private Readiness ready = (home, log) -> accepts(home.port());
        private Duration patience = Duration.ofMinutes(2);
        private int ports = 1;

        private Builder(String name) {
            this.name = name;
        }

        /** The command line, made for a folder and ports; it runs in the folder. Must be given. */
        public Builder command(Function<ServerHome, List<String>> line) {
            command = line;
            return this;
        }

        /** Sets a variable; the others are those of this JVM. */
        public Builder environment(String variable, String value) {
            environment.put(variable, value);
            return this;
        }

        /** How many ports it needs; otherwise 1. */
        public Builder ports(int count) {
            ports = count;
            return this;
        }

        /** What is done once, before the first start: files to write, a database to initialise. */
        public Builder prepare(Consumer<ServerHome> task) {
            preparation = task;
            return this;
        }

        /** Ready when the predicate says so, asked every few milliseconds; otherwise when the first port accepts. */
        public Builder readyWhen(Predicate<ServerHome> predicate) {
            ready = (home, log) -> predicate.test(home);
            return this;
        }

        /** Ready when the log, from this start on, contains the text. */
        public Builder readyWhenLogContains(String text) {
            ready = (home, log) -> log.sinceMark().contains(text);
            return this;
        }

        /** How long a start may take; otherwise two minutes. */
        public Builder patience(Duration duration) {
            patience = duration;
            return this;
        }

        /**
         * Starts the server and returns when it is ready.
         *
         * @throws AssertionError when it is not ready in time or ends before, with the end of its log
         * @throws java.io.UncheckedIOException when the command cannot be run
         */
        public ServerProcess start() {
            return new ServerProcess(this);
        }

        private static boolean accepts(int port) {
            try (Socket socket = new Socket()) {
                socket.connect(Loopback.port(port), 1_000);
                return true;
            } catch (IOException e) {
                return false;
            }
        }
    }
}
