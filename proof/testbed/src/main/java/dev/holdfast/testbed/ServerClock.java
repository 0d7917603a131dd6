package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The clocks of a process, to move while it runs: a small library, compiled here and preloaded into the process, adds what it
 * reads from a file. They move in two ways: the wall clock is {@linkplain #set set}, as on a machine whose time is corrected,
 * or {@linkplain #pass time passes}.
 *
 * <pre>{@code
 * try (ServerClock clock = ServerClock.create();
 *         RedisServer redis = RedisServer.startInstalled(clock.environment())) {
 *     clock.set(Duration.ofHours(-1));    // from now on, for the server
 *     clock.pass(Duration.ofDays(7));     // a week later: keys have expired, waits have ended
 * }
 * }</pre>
 *
 * <p>Only for programs that are linked dynamically: those of a distribution are, and so is Java. One clock may serve several
 * processes. Thread-safe.
 */
public final class ServerClock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String SOURCE = "clock.c";

    private static final String PRELOADED = "LD_PRELOAD";
    /** In the environment of a process: the file with the two numbers. */
    private static final String FILE = "HOLDFAST_CLOCK";

    private static final int SET = 0;
    private static final int PASSED = Long.BYTES;

    private final Path folder;
    private final Path library;
    private final FileChannel file;
    private final Runnable deletion;

    private ServerClock(Path folder, Path library, FileChannel file) {
        this.folder = folder;
        this.deletion = () -> Folders.delete(folder);
        this.library = library;
        this.file = file;
    }

    /**
     * Compiles the library; the clock shows the time of this machine.
     *
     * @throws ServerMissingException where there is no Linux or no gcc; it is no {@linkplain
     *     ServerMissingException#isFailure failure}
     */
    public static ServerClock create() {
        if (!System.getProperty("os.name").equals("Linux")) {
            throw new ServerMissingException("a clock to set", "Linux", "run the tests on Linux", false);
        }
        Path gcc = Binaries.onThisMachine().findInstalled("gcc", "apt-get install gcc libc6-dev");
        Path folder = Folders.create("clock");
        Path source = folder.resolve(SOURCE);
        Path library = folder.resolve("clock.so");
        try (InputStream text = ServerClock.class.getResourceAsStream(SOURCE)) {
            if (text == null) {
                throw new IllegalStateException(SOURCE + " is missing beside " + ServerClock.class);
            }
            Files.copy(text, source);
            Setup.run(
                    new ServerHome(folder, List.of()),
                    PATIENCE,
                    List.of(gcc.toString(), "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString()));
            Path moved = folder.resolve("moved");
            Files.write(moved, new byte[2 * Long.BYTES]);
            ServerClock clock = new ServerClock(folder, library, open(moved));
            AtExit.run(clock.deletion);
            return clock;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a clock in " + folder, e);
        }
    }

    /** The clock of this JVM, which was started with its {@link #environment}; the process that made it closes it. */
    public static ServerClock ofThisJvm() {
        Path moved = Path.of(Objects.requireNonNull(System.getenv(FILE), "this JVM goes by the machine's clock"));
        try {
            return new ServerClock(moved.resolveSibling(""), Path.of(System.getenv(PRELOADED)), open(moved));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot move this JVM's clock", e);
        }
    }

    private static FileChannel open(Path moved) throws IOException {
        return FileChannel.open(moved, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** What a process needs in its environment, to go by this clock; its children then go by it as well. */
    public Map<String, String> environment() {
        return Map.of(
                PRELOADED, library.toString(), FILE, folder.resolve("moved").toString());
    }

    /** Sets the wall clock so far ahead of the time of this machine, or, if negative, behind it; no other clock moves. */
    public void set(Duration offset) {
        write(SET, offset.toNanos());
    }

    /** So much time passes: both clocks move, and what waits for a time ends that much earlier, within a few milliseconds. */
    public synchronized void pass(Duration time) {
        try {
            ByteBuffer nanos = numbers();
            file.read(nanos, PASSED);
            write(PASSED, nanos.flip().getLong() + time.toNanos());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot let time pass", e);
        }
    }

    private void write(int place, long nanos) {
        try {
            file.write(numbers().putLong(nanos).flip(), place);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot set the clock", e);
        }
    }

    private static ByteBuffer numbers() {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    }

    /** Deletes the library; close the servers first. */
    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            // Nothing more is written to it.
        }
        AtExit.forget(deletion);
        deletion.run();
    }
}
