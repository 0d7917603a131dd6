package dev.holdfast.sqlite;

import dev.holdfast.StoreRefusedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The machine whose processes share a file of locks, and the clock they share.
 *
 * <p>{@link System#nanoTime()} is one clock for all processes of a machine: HotSpot reads {@code CLOCK_MONOTONIC} on Linux
 * and {@code mach_absolute_time} on macOS without an origin of its own, and both count from the machine's start. So it
 * can be stored and compared between processes, no wall clock matters, and it stops for all of them while the machine
 * sleeps. It begins again with every start; the boot id differs from one start to the next.
 *
 * @param bootId identifies this start of the machine
 * @param nanoTime the clock
 */
record BootClock(String bootId, LongSupplier nanoTime) {
    private static final Path LINUX_BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path LINUX_CLOCK_OFFSETS = Path.of("/proc/self/timens_offsets");

    /**
     * The clock of this machine.
     *
     * @throws StoreRefusedException if it cannot distinguish its starts, or this process has a clock of its own
     */
    static BootClock local() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        try {
            if (system.contains("linux")) {
                refuseShiftedClock(LINUX_CLOCK_OFFSETS);
                return new BootClock(checked(Files.readString(LINUX_BOOT_ID)), System::nanoTime);
            }
            if (system.contains("mac")) {
                return new BootClock(
                        checked(output("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")), System::nanoTime);
            }
        } catch (IOException e) {
            throw refused("it could not be read: " + e.getMessage(), e);
        }
        throw refused("there is none on " + system, null);
    }

    /** A container may be given a clock that is shifted against its host's, whose file it may share. */
    static void refuseShiftedClock(Path offsets) throws IOException {
        if (Files.isReadable(offsets)
                && Files.readString(offsets)
                        .lines()
                        .anyMatch(line -> !line.strip().matches("\\S+\\s+0\\s+0"))) {
            throw new StoreRefusedException(
                    "locks in a SQLite file need the machine's own monotonic clock, and this process"
                            + " runs in a time namespace that shifts it; start it without one, or use a database server");
        }
    }

    private static String checked(String id) throws IOException {
        if (id.isBlank()) {
            throw new IOException("it is empty");
        }
        return id.strip();
    }

    private static String output(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(5, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(command[0] + " failed");
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static StoreRefusedException refused(String why, @Nullable Exception cause) {
        return new StoreRefusedException(
                "locks in a SQLite file need the machine's boot id, and " + why + "; use a database server", cause);
    }
}
