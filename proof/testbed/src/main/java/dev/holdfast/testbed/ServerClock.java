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

/**
 * The wall clock of a server, to set forward and back while it runs: a small library, compiled here and preloaded into
 * the server, that adds an offset which it reads from a file. The monotonic clock stays as it is.
 *
 * <pre>{@code
 * try (ServerClock clock = ServerClock.create();
 *         RedisServer redis = RedisServer.startInstalled(clock.environment())) {
 *     clock.set(Duration.ofHours(-1));    // from now on, for the server
 * }
 * }</pre>
 *
 * <p>Only for programs that are linked dynamically: those of a distribution are. One clock may serve several servers.
 * Thread-safe.
 */
public final class ServerClock implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String SOURCE = "clock.c";

    private final Path folder;
    private final Path library;
    private final FileChannel file;

    private ServerClock(Path folder, Path library, FileChannel file) {
        this.folder = folder;
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
            FileChannel file =
                    FileChannel.open(folder.resolve("offset"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            ServerClock clock = new ServerClock(folder, library, file);
            clock.set(Duration.ZERO);
            return clock;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a clock in " + folder, e);
        }
    }

    /** What a server needs in its environment, to go by this clock. */
    public Map<String, String> environment() {
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "HOLDFAST_CLOCK",
                folder.resolve("offset").toString());
    }

    /** Sets it so far ahead of the time of this machine, or, if negative, behind it. */
    public void set(Duration offset) {
        ByteBuffer nanos = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        nanos.putLong(offset.toNanos()).flip();
        try {
            file.write(nanos, 0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot set the clock", e);
        }
    }

    /** Deletes the library; close the servers first. */
    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            // Nothing more is written to it.
        }
        Folders.delete(folder);
    }
}
