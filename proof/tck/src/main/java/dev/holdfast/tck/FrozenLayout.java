package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a released version keeps in a store, as a text file in the store's own commands: put into a server, it is what that
 * version left there; compared with what the present version wrote, it shows that the layout has not changed.
 *
 * <pre>
 *   # a comment
 *   SET holdfast:{held} "1 X {id1} = host 7 main label {now}" PX {left 30000ms}
 *     a line that begins with a blank goes on with the one before it
 *
 *   {id1}            a claim id of 32 times that digit
 *   {now}            the time by a clock of the store; {now+30s} is later, {now-30s} is earlier
 *   {left 30000ms}   a number of milliseconds, or of seconds, that has run a little since it was that large
 *   {other word}     what each run has its own of, the same wherever the file has that word; {channel}, say
 * </pre>
 *
 * <p>A version that has been released never changes its file. A change of layout adds a folder beside it.
 */
public final class FrozenLayout {
    /** How far a clock that is rounded, or is another machine's, may be from what is written. */
    private static final Duration ROUNDED = Duration.ofSeconds(2);

    /** Digit; how much is left, and its unit; word, and the seconds added to it. */
    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\{(?:id(\\d)|left (\\d+)(ms|s)|([a-z]+)(?:([+-]\\d+)s)?)}");

    private final Path path;
    private final List<String> lines;
    private final Map<String, Clock> clocks;

    private FrozenLayout(Path path, List<String> lines, Map<String, Clock> clocks) {
        this.path = path;
        this.lines = lines;
        this.clocks = clocks;
    }

    /**
     * A clock by which a store writes times.
     *
     * @param perSecond how many of its units are a second
     */
    public record Clock(long perSecond, LongSupplier time) {
        /** The wall clock of this machine, in milliseconds. */
        public static Clock millis() {
            return new Clock(1_000, System::currentTimeMillis);
        }

        /** The same in microseconds. */
        public static Clock micros() {
            return new Clock(1_000_000, () -> System.currentTimeMillis() * 1_000);
        }
    }

    /** What all clocks say, and the stop watch of the test. */
    private record Moment(Map<String, Long> times, long nanos) {}

    /**
     * Reads a file of the module whose tests run.
     *
     * @param file in the folder {@code src/test/layouts}, such as {@code 0.1.0/redis.txt}
     * @param clocks by which the store writes times, each named as in the file
     */
    public static FrozenLayout read(String file, Map<String, Clock> clocks) {
        Path path = Path.of("src/test/layouts", file);
        try {
            return new FrozenLayout(path, joined(Files.readString(path)), clocks);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> joined(String text) {
        List<String> lines = new ArrayList<>();
        for (String line : text.split("\n")) {
            if (line.startsWith(" ")) {
                lines.set(lines.size() - 1, lines.get(lines.size() - 1) + " " + line.strip());
            } else if (!line.startsWith("#") && !line.isBlank()) {
                lines.add(line.strip());
            }
        }
        return lines;
    }

    /** The claim id that a file names with one digit. */
    public static String id(int digit) {
        return Integer.toString(digit).repeat(32);
    }

    /**
     * The commands that bring the state about.
     *
     * @param ahead how far the clocks were ahead when it was written
     * @param own what stands for the words of this run
     */
    List<String> commands(Duration ahead, Map<String, String> own) {
        Map<String, Long> now = moment().times;
        return lines.stream()
                .map(line -> PLACEHOLDER
                        .matcher(line)
                        .replaceAll(found -> Matcher.quoteReplacement(value(found, ahead, now, own))))
                .toList();
    }

    private String value(MatchResult found, Duration ahead, Map<String, Long> now, Map<String, String> own) {
        if (isLeft(found)) {
            return found.group(2);
        }
        String word = word(found);
        Clock clock = clocks.get(word);
        return clock == null
                ? own.getOrDefault(word, constant(found))
                : Long.toString(time(found, clock, now) + ahead.toSeconds() * clock.perSecond);
    }

    private static boolean isLeft(MatchResult found) {
        return found.group(2) != null;
    }

    private static String word(MatchResult found) {
        return Objects.requireNonNullElse(found.group(4), "");
    }

    /** What is the same in each run: a claim id; and what is no placeholder, such as the {held} of a Redis key. */
    private static String constant(MatchResult found) {
        return found.group(1) == null ? found.group() : id(Integer.parseInt(found.group(1)));
    }

    private static long time(MatchResult found, Clock clock, Map<String, Long> at) {
        long seconds = found.group(5) == null ? 0 : Long.parseLong(found.group(5));
        return Objects.requireNonNull(at.get(word(found))) + seconds * clock.perSecond;
    }

    private Moment moment() {
        Map<String, Long> times = new HashMap<>();
        clocks.forEach((word, clock) -> times.put(word, clock.time.getAsLong()));
        return new Moment(times, System.nanoTime());
    }

    /** Before the present version writes what is to be the same. */
    Comparison begin(Map<String, String> own) {
        return new Comparison(own, moment());
    }

    /** The comparison of one run, which learns the words that are its own. */
    final class Comparison {
        private final Map<String, String> own;
        private final Moment began;
        private Map<String, String> learned = new HashMap<>();

        private Comparison(Map<String, String> own, Moment began) {
            this.own = own;
            this.began = began;
        }

        /** Fails unless the present version wrote the same since this began, in whatever order. */
        void requireSame(List<String> stored) {
            Moment ended = moment();
            List<String> left = new ArrayList<>(stored);
            List<String> different = new ArrayList<>();
            for (String line : lines) {
                if (!removeSame(line, left, ended)) {
                    different.add("- " + line);
                }
            }
            left.forEach(line -> different.add("+ " + line));
            if (!different.isEmpty()) {
                fail(
                        "the present version stores something else than %s says (- frozen, + now):%n%s%n"
                                + "What a release stores stays readable: a change of layout needs a folder of its own"
                                + " beside it, and a reader of both; see CONTRIBUTING.md",
                        path, String.join("\n", different));
            }
        }

        private boolean removeSame(String line, List<String> left, Moment ended) {
            for (Iterator<String> each = left.iterator(); each.hasNext(); ) {
                if (isSame(line, each.next(), ended)) {
                    each.remove();
                    return true;
                }
            }
            return false;
        }

        private boolean isSame(String line, String written, Moment ended) {
            List<MatchResult> varying =
                    PLACEHOLDER.matcher(line).results().filter(this::varies).toList();
            StringBuilder pattern = new StringBuilder();
            int end = 0;
            for (MatchResult found : varying) {
                pattern.append(Pattern.quote(constants(line.substring(end, found.start()))))
                        .append(own.containsKey(word(found)) ? "([^ ,'\"]+)" : "(-?\\d+)");
                end = found.end();
            }
            pattern.append(Pattern.quote(constants(line.substring(end))));
            Matcher values = Pattern.compile(pattern.toString(), Pattern.DOTALL).matcher(written);
            if (!values.matches()) {
                return false;
            }
            Map<String, String> words = new HashMap<>(learned);
            for (int i = 0; i < varying.size(); i++) {
                if (!isSame(varying.get(i), values.group(i + 1), words, ended)) {
                    return false;
                }
            }
            learned = words;
            return true;
        }

        private boolean isSame(MatchResult found, String written, Map<String, String> words, Moment ended) {
            return own.containsKey(word(found))
                    ? written.equals(words.computeIfAbsent(word(found), word -> written))
                    : isInTime(found, Long.parseLong(written), ended);
        }

        private boolean varies(MatchResult found) {
            return isLeft(found) || clocks.containsKey(word(found)) || own.containsKey(word(found));
        }

        private String constants(String part) {
            return PLACEHOLDER.matcher(part).replaceAll(found -> Matcher.quoteReplacement(constant(found)));
        }

        /** Whether it was written between the beginning and the end. */
        private boolean isInTime(MatchResult found, long written, Moment ended) {
            Clock clock = clocks.get(word(found));
            if (clock == null) {
                long unit = found.group(3).equals("s") ? 1_000_000_000 : 1_000_000;
                long whole = Long.parseLong(found.group(2));
                return written <= whole && written >= whole - (ended.nanos - began.nanos + ROUNDED.toNanos()) / unit;
            }
            long rounded = ROUNDED.toSeconds() * clock.perSecond;
            return written >= time(found, clock, began.times) - rounded
                    && written <= time(found, clock, ended.times) + rounded;
        }
    }
}
