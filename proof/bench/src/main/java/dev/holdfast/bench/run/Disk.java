package dev.holdfast.bench.run;

import dev.holdfast.bench.TemporaryFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Whether the disk under the servers keeps what it says: without that, a commit costs nothing here and much elsewhere. */
public final class Disk {
    /** No disk that keeps its word is faster than that. */
    static final Duration TOO_FAST = Duration.ofNanos(100_000);

    private static final int WRITES = 51;
    private static final int BLOCK = 4096;
    private static final double NANOS_PER_MILLI = 1e6;

    private Disk() {}

    /** What the report says of the disk that temporary folders are on, where the servers live. */
    public static String describe() {
        try {
            List<Double> nanos = new ArrayList<>();
            TemporaryFolder.use(folder -> nanos.addAll(forcedWrites(folder.resolve("forced"))));
            return describe(Statistics.median(nanos));
        } catch (IOException e) {
            return "not known: " + e.getMessage();
        }
    }

    static String describe(double nanos) {
        String time =
                String.format(Locale.ROOT, "a forced write of 4 KiB takes %.3f ms (median)", nanos / NANOS_PER_MILLI);
        return nanos < TOO_FAST.toNanos()
                ? time + ": this disk does not flush, so commits are cheaper here than on one that does"
                : time + ": commits are flushed";
    }

    private static List<Double> forcedWrites(Path file) throws IOException {
        List<Double> nanos = new ArrayList<>();
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            for (int i = 0; i < WRITES; i++) {
                long began = System.nanoTime();
                channel.write(ByteBuffer.allocate(BLOCK));
                channel.force(false);
                nanos.add((double) (System.nanoTime() - began));
            }
        }
        return nanos;
    }
}
