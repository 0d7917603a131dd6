package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The Redis program that {@code org.signal:embedded-redis} carries, one resource for each system and processor. It is
 * taken out once per JVM, into a folder that is deleted at exit.
 */
final class RedisInJar {
    static final RedisInJar OF_THIS_JVM = new RedisInJar(
            System.getProperty("os.name"), System.getProperty("os.arch"), RedisInJar.class.getClassLoader());

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final String resource;
    private final @Nullable ClassLoader classes;
    private @Nullable Path extracted;

    RedisInJar(String system, String processor, @Nullable ClassLoader classes) {
        this.resource = "redis-server-7.0.15-" + systemOf(system) + "-" + processorOf(processor);
        this.classes = classes;
    }

    /** The program, or nothing when the jar is not there or has none for this machine. */
    synchronized Optional<Path> extract() {
        if (extracted == null) {
            try (InputStream program = open()) {
                if (program == null) {
                    return Optional.empty();
                }
                extracted = write(program);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot take " + resource + " out of its jar", e);
            }
        }
        return Optional.of(extracted);
    }

    @Override
    public String toString() {
        return resource + " on the class path";
    }

    private @Nullable InputStream open() {
        return classes == null
                ? ClassLoader.getSystemResourceAsStream(resource)
                : classes.getResourceAsStream(resource);
    }

    private static Path write(InputStream program) throws IOException {
        Path folder = Folders.create("redis-program");
        AtExit.run(() -> Folders.delete(folder));
        Path file = folder.resolve("redis-server");
        Files.copy(program, file);
        if (!file.toFile().setExecutable(true)) {
            throw new IOException("cannot make " + file + " executable");
        }
        proveItRuns(file);
        return file;
    }

    /**
     * A process that another thread forked while the file was being written holds it open for a moment, and until then
     * it cannot be run ("Text file busy"). Once it did run, nothing can write to it any more.
     */
    private static void proveItRuns(Path file) {
        StringBuilder said = new StringBuilder();
        boolean runs = Await.until(PATIENCE, () -> {
            try (ChildProcess version =
                    ChildProcess.command(file.toString(), "--version").start()) {
                int exit = version.waitFor(PATIENCE);
                said.replace(0, said.length(), version.story());
                return exit == 0;
            } catch (UncheckedIOException e) {
                said.replace(0, said.length(), String.valueOf(e.getCause()));
                return false;
            }
        });
        if (!runs) {
            throw new AssertionError(file + " does not run here: " + said);
        }
    }

    private static String systemOf(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.startsWith("mac") ? "darwin" : lower;
    }

    private static String processorOf(String name) {
        return switch (name) {
            case "x86_64" -> "amd64";
            case "aarch64" -> "arm64";
            case "x86", "i386", "i686" -> "386";
            default -> name;
        };
    }
}
