package dev.holdfast.testbed;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines a {@link ChildProcess} prints to its standard output, or to its standard error.
 *
 * <p>Each {@code expect} looks at the lines after the one that the {@code expect} before it returned, skips those that
 * do not match, and fails at once when the child has closed its output. Lines are read as UTF-8 and kept for the life
 * of the child, so none is lost however much it prints and however late a test looks.
 *
 * <pre>{@code
 * child.stderr().expect("WARN", Duration.ofSeconds(5));
 * MatchResult token = child.stdout().expect(Pattern.compile("token=(\\d+)"), Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>Thread-safe; when two threads expect at the same time, both may be given the same line.
 */
public final class ChildOutput {
    private final Transcript transcript;
    private final Transcript.Source source;
    private final Supplier<String> story;
    private volatile int next;

    ChildOutput(Transcript transcript, Transcript.Source source, Supplier<String> story) {
        this.transcript = transcript;
        this.source = source;
        this.story = story;
    }

    /** Everything printed so far, complete lines only until the child ends. */
    public List<String> lines() {
        return transcript.of(source);
    }

    /**
     * Awaits a line that starts with the prefix.
     *
     * @return the line
     * @throws AssertionError when none comes in time or can come any more; shows all output
     */
    public String expect(String prefix, Duration patience) {
        return expect(
                "line starting with \"" + prefix + "\"",
                line -> line.startsWith(prefix) ? Optional.of(line) : Optional.empty(),
                patience);
    }

    /**
     * Awaits a line in which the pattern is found.
     *
     * @return the match, with its groups
     * @throws AssertionError when none comes in time or can come any more; shows all output
     */
    public MatchResult expect(Pattern pattern, Duration patience) {
        return expect(
                "line matching " + pattern,
                line -> {
                    Matcher matcher = pattern.matcher(line);
                    return matcher.find() ? Optional.of(matcher.toMatchResult()) : Optional.empty();
                },
                patience);
    }

    /**
     * Awaits a line of which the predicate is true.
     *
     * @return the line
     * @throws AssertionError when none comes in time or can come any more; shows all output
     */
    public String expect(Predicate<String> wanted, Duration patience) {
        return expect(
                "line that was wanted", line -> wanted.test(line) ? Optional.of(line) : Optional.empty(), patience);
    }

    private <T> T expect(String what, Function<String, Optional<T>> wanted, Duration patience) {
        Transcript.Found<T> found = transcript
                .await(source, next, wanted, patience)
                .orElseThrow(() -> new AssertionError("no " + what + " on " + source + " within " + patience
                        + " or before its end, from " + story.get()));
        next = found.next();
        return found.value();
    }
}
