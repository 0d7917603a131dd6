package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a released version keeps in a store, as a text file in the store's own commands: put into a server, it is what that
 * version left there; compared with what the present version wrote, it shows that the layout has not changed.
 *
 * <pre>
 *   # a comment
 *   SET holdfast:{held} "1 X {id1} = host 7 main label {now}" PX {left 30000}
 *     a line that begins with a blank goes on with the one before it
 *
 *   {id1}          a claim id of 32 times that digit
 *   {now}          the store's clock, in the unit of the store; {now+30s} is later, {now-30s} is earlier
 *   {left 30000}   a time that has run a little since it was that long
 *   {other word}   what each run has its own of; {channel}, say
 * </pre>
 *
 * <p>A version that has been released never changes its file. A change of layout adds a folder beside it.
 */
public final class FrozenLayout {
    /** How long a machine that is busy may take from the first write of a state to the last. */
    private static final Duration SLOWEST = Duration.ofSeconds(10);

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(id\\d|now(?:[+-]\\d+s)?|left \\d+|[a-z]+)}");

    private final Path path;
    private final long unitsPerSecond;
    private final List<String> lines;

    private FrozenLayout(Path path, long unitsPerSecond, List<String> lines) {
        this.path = path;
        this.unitsPerSecond = unitsPerSecond;
        this.lines = lines;
    }

    /**
     * Reads a file of the module whose tests run.
     *
     * @param file in the folder {@code src/test/layouts}, such as {@code 0.1.0/redis.txt}
     * @param unitsPerSecond of the times that the store keeps
     */
    public static FrozenLayout read(String file, long unitsPerSecond) {
        Path path = Path.of("src/test/layouts", file);
        try {
            return new FrozenLayout(path, unitsPerSecond, joined(Files.readString(path)));
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

    /** How the store counts its times. */
    long unitsPerSecond() {
        return unitsPerSecond;
    }

    /** The claim id that a file names with one digit. */
    public static String id(int digit) {
        return Integer.toString(digit).repeat(32);
    }

    /**
     * The commands that bring the state about.
     *
     * @param now of the store's clock
     * @param own what stands for the words of this run
     */
    public List<String> commands(long now, Map<String, String> own) {
        return lines.stream()
                .map(line -> PLACEHOLDER
                        .matcher(line)
                        .replaceAll(found -> Matcher.quoteReplacement(value(found.group(1), now, own))))
                .toList();
    }

    private String value(String name, long now, Map<String, String> own) {
        if (name.startsWith("id")) {
            return id(name.charAt(2) - '0');
        }
        if (name.startsWith("now")) {
            return Long.toString(moment(name, now));
        }
        if (name.startsWith("left")) {
            return name.substring("left ".length());
        }
        return own.getOrDefault(name, "{" + name + "}"); // no placeholder, such as the {held} of a Redis key
    }

    private long moment(String name, long now) {
        String by = name.substring("now".length());
        return by.isEmpty() ? now : now + unitsPerSecond * Long.parseLong(by.substring(0, by.length() - 1));
    }

    /**
     * Fails unless the present version wrote the same, in whatever order.
     *
     * @param stored what it wrote, in the words of the file
     * @param now of the store's clock
     * @param own the words of this run: each matches whatever has no blank, comma or quote
     */
    public void requireSame(List<String> stored, long now, Map<String, String> own) {
        List<String> left = new ArrayList<>(stored);
        List<String> missing = new ArrayList<>();
        for (String line : lines) {
            if (!left.removeIf(written -> isSame(line, written, now, own))) {
                missing.add("- " + line);
            }
        }
        left.forEach(line -> missing.add("+ " + line));
        if (!missing.isEmpty()) {
            fail(
                    "the present version stores something else than %s says (- frozen, + now):%n%s%n"
                            + "What a release stores stays readable: a change of layout needs a folder of its own beside it, "
                            + "and a reader of both; see CONTRIBUTING.md",
                    path, String.join("\n", missing));
        }
        assertThat(stored).as("each line of %s once", path).hasSameSizeAs(lines);
    }

    private boolean isSame(String line, String written, long now, Map<String, String> own) {
        StringBuilder pattern = new StringBuilder();
        List<String> names = new ArrayList<>();
        Matcher found = PLACEHOLDER.matcher(line);
        int end = 0;
        while (found.find()) {
            String name = found.group(1);
            String value = value(name, now, own);
            boolean varies = name.startsWith("now") || name.startsWith("left") || own.containsKey(name);
            pattern.append(Pattern.quote(line.substring(end, found.start())))
                    .append(varies ? (own.containsKey(name) ? "([^ ,']+)" : "(-?\\d+)") : Pattern.quote(value));
            if (varies) {
                names.add(name);
            }
            end = found.end();
        }
        pattern.append(Pattern.quote(line.substring(end)));
        Matcher both = Pattern.compile(pattern.toString(), Pattern.DOTALL).matcher(written);
        if (!both.matches()) {
            return false;
        }
        for (int i = 0; i < names.size(); i++) {
            if (!isNear(names.get(i), both.group(i + 1), now, own)) {
                return false;
            }
        }
        return true;
    }

    private boolean isNear(String name, String written, long now, Map<String, String> own) {
        if (own.containsKey(name)) {
            return true;
        }
        long number = Long.parseLong(written);
        if (name.startsWith("left")) {
            long whole = Long.parseLong(name.substring("left ".length()));
            return number <= whole && number > whole - SLOWEST.toMillis();
        }
        return Math.abs(number - moment(name, now)) < unitsPerSecond * SLOWEST.toSeconds();
    }
}
