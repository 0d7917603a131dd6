package dev.holdfast.bench.run;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * What one thread, one process, or all of them together counted in a round.
 *
 * @param turns the turns of each thread that came to their lock within the round, in no order
 * @param counts what else was counted; what is missing is 0
 * @param timings what was measured; what is missing is empty
 */
public record Tally(List<Long> turns, Map<Count, Long> counts, Map<Timing, Histogram> timings) {
    private static final int DIGITS = 3;
    private static final String SEPARATOR = "\t";

    static Tally empty() {
        return new Tally(List.of(), Map.of(), Map.of());
    }

    static Histogram histogram() {
        return new Histogram(DIGITS);
    }

    Tally plus(Tally other) {
        Map<Count, Long> sums = new EnumMap<>(Count.class);
        for (Count what : Count.values()) {
            sums.put(what, count(what) + other.count(what));
        }
        Map<Timing, Histogram> both = new EnumMap<>(Timing.class);
        for (Timing timing : Timing.values()) {
            Histogram sum = timing(timing).copy();
            sum.add(other.timing(timing));
            both.put(timing, sum);
        }
        return new Tally(Stream.concat(turns.stream(), other.turns.stream()).toList(), sums, both);
    }

    /** The same with a count of its own. */
    Tally with(Count what, long number) {
        Map<Count, Long> changed = new EnumMap<>(Count.class);
        changed.putAll(counts);
        changed.put(what, number);
        return new Tally(turns, changed, timings);
    }

    long count(Count what) {
        return counts.getOrDefault(what, 0L);
    }

    Histogram timing(Timing timing) {
        Histogram found = timings.get(timing);
        return found != null ? found : histogram();
    }

    /** The turns of all threads. */
    public long sum() {
        return turns.stream().mapToLong(Long::longValue).sum();
    }

    String toLine() {
        List<String> words = new ArrayList<>();
        words.add(turns.stream().map(String::valueOf).collect(Collectors.joining(",")));
        words.add(Arrays.stream(Count.values())
                .map(what -> Long.toString(count(what)))
                .collect(Collectors.joining(",")));
        for (Timing timing : Timing.values()) {
            words.add(encode(timing(timing)));
        }
        return String.join(SEPARATOR, words);
    }

    static Tally parse(String line) {
        String[] words = line.split(SEPARATOR);
        Iterator<Long> numbers = numbers(words[1]).iterator();
        Map<Count, Long> counts = new EnumMap<>(Count.class);
        for (Count what : Count.values()) {
            counts.put(what, numbers.next());
        }
        Map<Timing, Histogram> timings = new EnumMap<>(Timing.class);
        Iterator<String> encoded = Arrays.asList(words).listIterator(2);
        for (Timing timing : Timing.values()) {
            timings.put(timing, decode(encoded.next()));
        }
        return new Tally(numbers(words[0]), counts, timings);
    }

    private static List<Long> numbers(String text) {
        return text.isEmpty()
                ? List.of()
                : Arrays.stream(text.split(",")).map(Long::valueOf).toList();
    }

    private static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
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
