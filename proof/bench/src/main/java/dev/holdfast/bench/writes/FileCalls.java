package dev.holdfast.bench.writes;

import dev.holdfast.testbed.Binaries;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * The calls by which a JVM writes its SQLite files: a small library, compiled here and preloaded into the JVM, counts them
 * in a file that it shares. On Linux, with gcc.
 */
record FileCalls(Path counts) {
    private static final String VARIABLE = "HOLDFAST_CALLS";
    private static final String SOURCE = "calls.c";
    private static final int COUNTERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Compiles the library into the folder, and has the JVM that is about to start use it.
     *
     * @throws dev.holdfast.testbed.ServerMissingException when this machine has no gcc
     */
    static void preload(ChildJvm jvm, Path folder) throws IOException {
        Path gcc = Binaries.onThisMachine().findInstalled("gcc", "apt-get install gcc libc6-dev");
        Path source = folder.resolve(SOURCE);
        Path library = folder.resolve("calls.so");
        Path counts = folder.resolve("calls");
        try (InputStream text = Objects.requireNonNull(FileCalls.class.getResourceAsStream(SOURCE))) {
            Files.copy(text, source);
        }
        Files.write(counts, new byte[COUNTERS * Long.BYTES]);
        try (ChildProcess compiler = ChildProcess.command(
                        gcc.toString(), "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                .start()) {
            if (compiler.waitFor(PATIENCE) != 0) {
                throw new IOException("gcc failed: " + compiler.stderr().lines());
            }
        }
        ChildJvm unused = jvm.environment("LD_PRELOAD", library.toString()).environment(VARIABLE, counts.toString());
    }

    /** Those of a JVM that was started so. */
    static FileCalls ofThisJvm() {
        return new FileCalls(Path.of(Objects.requireNonNull(System.getenv(VARIABLE), "nothing counts in this JVM")));
    }

    Map<String, Double> counted() {
        try {
            ByteBuffer counters = ByteBuffer.wrap(Files.readAllBytes(counts)).order(ByteOrder.nativeOrder());
            return Map.of(
                    "syncs", (double) counters.getLong(),
                    "log bytes", (double) counters.getLong(),
                    "written back bytes", (double) counters.getLong());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
