package dev.holdfast.bench.longrun;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.server.Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What this JVM and the store keep at present. */
final class Kept {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int COLLECTIONS = 4;
    private static final int LOOKS = 300;
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(300);
    private static final Duration BETWEEN_COLLECTIONS = Duration.ofMillis(150);

    private Kept() {}

    static Map<String, Double> by(Server server) {
        Map<String, Double> kept = new LinkedHashMap<>();
        kept.put("client: heap, bytes", heap());
        kept.put("client: threads", (double) ManagementFactory.getThreadMXBean().getThreadCount());
        kept.put("client: sockets", (double) sockets());
        atRest(server).forEach((what, amount) -> kept.put("store: " + what, amount));
        return kept;
    }

    /** Until it stands still: rows that were due long ago by a moved clock take the time of their removal all the same. */
    private static Map<String, Double> atRest(Server server) {
        Map<String, Double> before = server.residue();
        for (int i = 0; i < LOOKS; i++) {
            Schedule.pause(BETWEEN_LOOKS);
            Map<String, Double> now = server.residue();
            if (now.equals(before)) {
                break;
            }
            before = now;
        }
        return new TreeMap<>(before);
    }

    private static double heap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            memory.gc();
            Schedule.pause(BETWEEN_COLLECTIONS); // what the collection has found is cleaned by other threads
            least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static long sockets() {
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            return descriptors.filter(Kept::isSocket).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }
}
