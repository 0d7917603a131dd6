package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server of the sale as a process. Thread-safe. */
final class NodeProcess implements AutoCloseable {
    /** What a server is doing. */
    enum State {
        STARTING,
        UP,
        PAUSED,
        DOWN
    }

    private static final Duration START = Duration.ofMinutes(3);
    private static final Pattern ORDERS = Pattern.compile("orders (\\d{1,6}) (\\d{1,6})");

    private final int number;
    private final Process process;
    private final CompletableFuture<URI> ready = new CompletableFuture<>();
    private final Consumer<String> log;
    private final BiConsumer<Integer, Faults.Fault> struck;
    private volatile State state = State.STARTING;
    private volatile Crowd crowd = Crowd.NOBODY;

    /**
     * The orders that a server has not answered yet.
     *
     * @param waiting those that wait for their turn
     * @param working those that have read and have not written
     */
    record Crowd(int waiting, int working) {
        static final Crowd NOBODY = new Crowd(0, 0);

        /** Read at slightly different moments, so fewer may be here than at work. */
        static Crowd of(String here, String working) {
            int atWork = Integer.parseInt(working);
            return new Crowd(Math.max(0, Integer.parseInt(here) - atWork), atWork);
        }
    }

    private NodeProcess(int number, Process process, Consumer<String> log, BiConsumer<Integer, Faults.Fault> struck) {
        this.number = number;
        this.process = process;
        this.log = log;
        this.struck = struck;
    }

    /**
     * Starts a server; its settings are variables, so that no password shows in the list of processes.
     *
     * @param struck is told of the faults that its orders meet; the store is to be cut off by whom it is told
     */
    static NodeProcess start(
            int number, Map<String, String> settings, Consumer<String> log, BiConsumer<Integer, Faults.Fault> struck) {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx192m",
                        "-Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger",
                        "--enable-native-access=ALL-UNNAMED",
                        "dev.holdfast.flashsale.node.Node")
                .redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().putAll(settings);
        builder.environment().put("SALE_NODE", Integer.toString(number));
        builder.environment().put("HOLDFAST_LABEL", "server " + number);
        try {
            NodeProcess node = new NodeProcess(number, builder.start(), log, struck);
            Thread reader = new Thread(node::read, "server " + number);
            reader.setDaemon(true);
            reader.start();
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a server", e);
        }
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said(line);
            }
        } catch (IOException e) {
            // the process is gone
        }
        state = State.DOWN;
        ready.completeExceptionally(new IllegalStateException("server " + number + " ended while it started"));
    }

    private void said(String line) {
        Matcher orders = ORDERS.matcher(line);
        if (line.startsWith("ready ")) {
            state = State.UP;
            ready.complete(URI.create("http://127.0.0.1:" + line.substring("ready ".length())));
        } else if (line.equals("paused")) {
            state = State.PAUSED;
            struck.accept(number, Faults.Fault.PAUSE);
        } else if (line.equals("continued")) {
            state = State.UP;
        } else if (line.equals("cut")) {
            struck.accept(number, Faults.Fault.CUT);
        } else if (line.equals("killed")) {
            struck.accept(number, Faults.Fault.KILL);
        } else if (orders.matches()) {
            crowd = Crowd.of(orders.group(1), orders.group(2));
        } else if (!line.startsWith("\t")) { // no stacks
            log.accept("server " + number + ": " + line);
        }
    }

    int number() {
        return number;
    }

    State state() {
        return process.isAlive() ? state : State.DOWN;
    }

    /** Who is there; nobody if it is down. */
    Crowd crowd() {
        return process.isAlive() ? crowd : Crowd.NOBODY;
    }

    /** Waits until the server serves, and returns where. */
    URI await() throws InterruptedException {
        try {
            return ready.get(START.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("server " + number + " ended while it started; see its lines above", e);
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "server " + number + " did not start within " + START.toSeconds() + " s", e);
        }
    }

    /** Where it serves, or served; nothing if it has never served. */
    Optional<URI> address() {
        return ready.isDone() && !ready.isCompletedExceptionally() ? Optional.of(ready.join()) : Optional.empty();
    }

    /** Waits for its end. */
    boolean awaitEnd(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Kills it, also when it is stopped. */
    @Override
    public void close() {
        List<ProcessHandle> helpers = process.descendants().toList();
        process.destroyForcibly();
        helpers.forEach(ProcessHandle::destroyForcibly);
    }
}
