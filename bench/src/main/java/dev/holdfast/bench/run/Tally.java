package dev.holdfast.bench.run;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * What one thread, one process, or all of them together counted in a round.
 *
 * @param turns the turns of each thread that began within the round, in no order
 * @param all how many turns there were, with those that ended after it
 * @param updates how often the unprotected counter was raised
 * @param overlaps how often a holder saw another where none may be
 * @param waits how long each turn waited, in nanoseconds
 * @param writers how long those of them waited that write among readers, in nanoseconds
 * @param handOvers the time from a release to the next holder in another process that was waiting, in nanoseconds
 * @param cpuNanos the processor time
 * @param written the bytes given to the system for writing
 */
public record Tally(
        List<Long> turns,
        long all,
        long updates,
        long overlaps,
        Histogram waits,
        Histogram writers,
        Histogram handOvers,
        long cpuNanos,
        long written) {
    private static final int DIGITS = 3;
    private static final String SEPARATOR = "\t";

    static Tally empty() {
        return new Tally(List.of(), 0, 0, 0, histogram(), histogram(), histogram(), 0, 0);
    }

    static Histogram histogram() {
        return new Histogram(DIGITS);
    }

    Tally plus(Tally other) {
        return new Tally(
                Stream.concat(turns.stream(), other.turns.stream()).toList(),
                all + other.all,
                updates + other.updates,
                overlaps + other.overlaps,
                both(waits, other.waits),
                both(writers, other.writers),
                both(handOvers, other.handOvers),
                cpuNanos + other.cpuNanos,
                written + other.written);
    }

    private static Histogram both(Histogram one, Histogram other) {
        Histogram both = one.copy();
        both.add(other);
        return both;
    }

    Tally with(long cpu, long bytes) {
        return new Tally(turns, all, updates, overlaps, waits, writers, handOvers, cpu, bytes);
    }

    /** The turns of all threads. */
    public long sum() {
        return turns.stream().mapToLong(Long::longValue).sum();
    }

    String toLine() {
        return String.join(
                SEPARATOR,
                turns.stream().map(String::valueOf).collect(Collectors.joining(",")),
                LongStream.of(all, updates, overlaps, cpuNanos, written)
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(",")),
                encode(waits),
                encode(writers),
                encode(handOvers));
    }

    static Tally parse(String line) {
        String[] words = line.split(SEPARATOR);
        List<Long> numbers = numbers(words[1]);
        return new Tally(
                numbers(words[0]),
                numbers.get(0),
                numbers.get(1),
                numbers.get(2),
                decode(words[2]),
                decode(words[3]),
                decode(words[4]),
                numbers.get(3),
                numbers.get(4));
    }

    private static List<Long> numbers(String text) {
        List<Long> numbers = new ArrayList<>();
        for (String word : text.split(",")) {
            numbers.add(Long.valueOf(word));
        }
        return numbers;
    }

    private static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(buffer.array(), length));
    }

    private static Histogram decode(String text) {
        try {
            return Histogram.decodeFromCompressedByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("not a histogram", e);
        }
    }
}
