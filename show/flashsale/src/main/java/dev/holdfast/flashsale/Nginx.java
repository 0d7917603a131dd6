package dev.holdfast.flashsale;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An nginx in front of the sale: it passes orders to one server after the other, and all else to the page. When a server
 * comes or goes, the configuration is written again, and the running nginx loads it. Thread-safe.
 */
final class Nginx implements ServerPool, AutoCloseable {
    private static final String SYSTEM_FOLDERS = "/usr/sbin:/usr/local/sbin:/opt/homebrew/bin";
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration SETTLED = Duration.ofMillis(150);
    private static final long POLL = 20; // milliseconds
    private static final long END = 5; // seconds

    /** Runs a command that ends with its standard input: so it never outlives the program that started it. */
    private static final String WHILE_INPUT =
            "exec 3<&0; \"$@\" & child=$!; (cat <&3; kill $child) > /dev/null 2>&1 & watcher=$!;"
                    + " wait $child; kill $watcher 2> /dev/null"; // the number of an ended process may be another's

    private final Path program;
    private final int wanted;
    private final HttpClient http = HttpClient.newHttpClient();
    private final ReentrantLock changes = new ReentrantLock();
    private final List<URI> servers = new ArrayList<>();
    private volatile @Nullable Running running;
    private int generation;
    private boolean closed;

    /** An nginx that is running, in a folder of its own. */
    private record Running(Process process, Path folder, int port, URI page) {}

    /** An nginx on a port of 127.0.0.1, 0 for any; it is to be started. */
    Nginx(Path program, int port) {
        this.program = program;
        this.wanted = port;
    }

    /**
     * Finds nginx.
     *
     * @throws IllegalStateException if it is not installed
     */
    static Path find() {
        String path = System.getenv("PATH");
        return find((path == null ? "" : path) + File.pathSeparator + SYSTEM_FOLDERS);
    }

    /** The same in these folders. */
    static Path find(String path) {
        return Stream.of(path.split(File.pathSeparator, -1))
                .filter(place -> !place.isEmpty())
                .map(place -> Path.of(place, "nginx"))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nginx is not installed; searched: " + path
                        + ". Install it (Debian: apt-get install nginx-light), or omit --nginx"));
    }

    /**
     * Starts it, without a server yet.
     *
     * @param page gets what is no order
     * @throws java.net.BindException if the port is taken
     */
    void start(URI page) throws IOException, InterruptedException {
        changes.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the sale has ended");
            }
            int port = freePort();
            Path folder = Files.createTempDirectory("holdfast-sale-nginx-");
            write(folder, port, page);
            List<String> inShell = new ArrayList<>(List.of("sh", "-c", WHILE_INPUT, "sh"));
            inShell.addAll(command(folder));
            Process process = new ProcessBuilder(inShell)
                    .redirectErrorStream(true)
                    .redirectOutput(log(folder).toFile())
                    .start();
            running = new Running(process, folder, port, page);
            awaitConfiguration();
        } finally {
            changes.unlock();
        }
    }

    /** The wanted port, if it is free; nginx itself would try for some seconds. */
    private int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(wanted, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private List<String> command(Path folder) {
        return List.of(
                program.toString(),
                "-p",
                folder + "/",
                "-e",
                "stderr",
                "-c",
                configuration(folder).toString());
    }

    /** Where it listens. */
    URI address() {
        return URI.create("http://127.0.0.1:" + running().port());
    }

    private Running running() {
        Running now = running;
        if (now == null) {
            throw new IllegalStateException("nginx is not running");
        }
        return now;
    }

    @Override
    public void add(URI server) {
        change(() -> servers.add(server));
    }

    @Override
    public void remove(URI server) {
        change(() -> servers.remove(server));
    }

    private void change(Runnable change) {
        changes.lock();
        try {
            change.run();
            generation++;
            Running now = running();
            write(now.folder(), now.port(), now.page());
            List<String> reload = new ArrayList<>(command(now.folder()));
            reload.addAll(List.of("-s", "reload"));
            Process told = new ProcessBuilder(reload)
                    .redirectErrorStream(true)
                    .redirectOutput(
                            ProcessBuilder.Redirect.appendTo(log(now.folder()).toFile()))
                    .start();
            if (!told.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                told.destroyForcibly();
            }
            awaitConfiguration();
        } catch (IOException e) {
            throw new UncheckedIOException("nginx cannot be told of a server", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } finally {
            changes.unlock();
        }
    }

    private void write(Path folder, int port, URI page) throws IOException {
        Files.writeString(configuration(folder), NginxConfiguration.of(folder, port, page, servers, generation));
    }

    /** Until the processes that answer have read the configuration as it is now. */
    private void awaitConfiguration() throws IOException, InterruptedException {
        Running now = running();
        HttpRequest request = HttpRequest.newBuilder(address().resolve(NginxConfiguration.GENERATION))
                .timeout(PATIENCE)
                .build();
        long end = System.nanoTime() + PATIENCE.toNanos();
        long last = System.nanoTime(); // of an answer by an older one, which may still take orders
        while (System.nanoTime() - last < SETTLED.toNanos()) {
            if (!answer(request).equals(Integer.toString(generation))) {
                last = System.nanoTime();
            }
            if (!now.process().isAlive() || System.nanoTime() > end) {
                throw new IllegalStateException("nginx does not serve: "
                        + Files.readString(log(now.folder())).strip());
            }
            Thread.sleep(POLL);
        }
    }

    private String answer(HttpRequest request) throws InterruptedException {
        try {
            return http.send(request, BodyHandlers.ofString()).body();
        } catch (IOException notYet) {
            return "";
        }
    }

    private static Path configuration(Path folder) {
        return folder.resolve("nginx.conf");
    }

    private static Path log(Path folder) {
        return folder.resolve("log");
    }

    @Override
    public void close() {
        changes.lock();
        try {
            closed = true;
            Running last = running;
            running = null;
            if (last != null) {
                end(last.process());
                Storage.remove(last.folder());
            }
        } finally {
            changes.unlock();
        }
    }

    private static void end(Process process) {
        List<ProcessHandle> all = process.descendants().toList();
        try {
            process.getOutputStream().close();
            process.waitFor(END, TimeUnit.SECONDS);
        } catch (IOException e) {
            // it has ended already
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        all.forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
