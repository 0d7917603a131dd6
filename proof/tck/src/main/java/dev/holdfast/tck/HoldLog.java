package dev.holdfast.tck;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.History.Held;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one process saw of its holds, written as it goes: each line is given to the kernel by one call before the process
 * goes on, and so outlives a SIGKILL. Used by one thread at a time.
 *
 * <pre>
 *   held HOLD ASKED BEGAN TOKEN MODE
 *   valid HOLD LOOKED
 *   closed HOLD LEAVING LEFT
 *   lost HOLD LEAVING LEFT
 * </pre>
 *
 * <p>HOLD is a number of the process's own for each hold, since readers may have the same token; MODE is that of {@link
 * Modes}.
 */
final class HoldLog implements AutoCloseable {
    private final FileChannel file;

    HoldLog(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    void held(long hold, Mode mode, long token, long asked, long began) throws IOException {
        write("held " + hold + " " + asked + " " + began + " " + token + " " + Modes.write(mode));
    }

    void valid(long hold, long looked) throws IOException {
        write("valid " + hold + " " + looked);
    }

    void closed(long hold, long leaving, long left) throws IOException {
        write("closed " + hold + " " + leaving + " " + left);
    }

    void lost(long hold, long leaving, long left) throws IOException {
        write("lost " + hold + " " + leaving + " " + left);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** The holds of a log, whose last line may be torn. */
    static List<Held> read(Path path) throws IOException {
        String text = Files.exists(path) ? Files.readString(path) : "";
        Map<Long, Held> holds = new LinkedHashMap<>();
        text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(line -> add(line.split(" "), path, holds));
        return List.copyOf(holds.values());
    }

    private static void add(String[] line, Path path, Map<Long, Held> holds) {
        long number = Long.parseLong(line[1]);
        long stamp = Long.parseLong(line[2]);
        switch (line[0]) {
            case "held" -> {
                Held twice = holds.put(number, begun(String.valueOf(path.getFileName()), line));
                if (twice != null) {
                    throw new AssertionError(path + " tells of the hold " + number + " twice");
                }
            }
            case "valid" -> holds.computeIfPresent(number, (same, held) -> seenValid(held, stamp));
            case "closed", "lost" -> {
                Ending ending = line[0].equals("lost") ? Ending.LOST : Ending.CLOSED;
                long left = Long.parseLong(line[3]);
                holds.computeIfPresent(number, (same, held) -> ended(held, stamp, left, ending));
            }
            default -> throw new AssertionError("not a line of a log of holds: " + String.join(" ", line));
        }
    }

    private static Held begun(String who, String[] line) {
        long began = Long.parseLong(line[3]);
        return new Held(
                who,
                Modes.read(line[5]),
                Long.parseLong(line[4]),
                Long.parseLong(line[2]),
                began,
                began,
                0,
                0,
                Ending.UNKNOWN);
    }

    private static Held seenValid(Held held, long looked) {
        return new Held(held.who(), held.mode(), held.token(), held.asked(), held.began(), looked, 0, 0, held.ending());
    }

    private static Held ended(Held held, long leaving, long left, Ending ending) {
        return new Held(
                held.who(),
                held.mode(),
                held.token(),
                held.asked(),
                held.began(),
                held.lastValid(),
                leaving,
                left,
                ending);
    }

    private void write(String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }
}
