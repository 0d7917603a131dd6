package dev.holdfast.tck;

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
 *   held TOKEN ASKED BEGAN
 *   valid TOKEN LOOKED
 *   closed TOKEN LEAVING LEFT
 *   lost TOKEN LEAVING LEFT
 * </pre>
 */
final class HoldLog implements AutoCloseable {
    private final FileChannel file;

    HoldLog(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    void held(long token, long asked, long began) throws IOException {
        write("held " + token + " " + asked + " " + began);
    }

    void valid(long token, long looked) throws IOException {
        write("valid " + token + " " + looked);
    }

    void closed(long token, long leaving, long left) throws IOException {
        write("closed " + token + " " + leaving + " " + left);
    }

    void lost(long token, long leaving, long left) throws IOException {
        write("lost " + token + " " + leaving + " " + left);
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
        long token = Long.parseLong(line[1]);
        long stamp = Long.parseLong(line[2]);
        String who = String.valueOf(path.getFileName());
        switch (line[0]) {
            case "held" -> {
                long began = Long.parseLong(line[3]);
                Held twice = holds.put(token, new Held(who, token, stamp, began, began, 0, 0, Ending.UNKNOWN));
                if (twice != null) {
                    throw new AssertionError(who + " held the token " + token + " twice");
                }
            }
            case "valid" ->
                holds.computeIfPresent(
                        token,
                        (same, held) -> new Held(who, token, held.asked(), held.began(), stamp, 0, 0, held.ending()));
            case "closed", "lost" -> {
                Ending ending = line[0].equals("lost") ? Ending.LOST : Ending.CLOSED;
                long left = Long.parseLong(line[3]);
                holds.computeIfPresent(
                        token,
                        (same, held) -> new Held(
                                who, token, held.asked(), held.began(), held.lastValid(), stamp, left, ending));
            }
            default -> throw new AssertionError("not a line of a log of holds: " + String.join(" ", line));
        }
    }

    private void write(String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }
}
