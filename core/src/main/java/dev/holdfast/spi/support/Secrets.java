package dev.holdfast.spi.support;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The secrets of one store's URL, known by value, so that a driver's text can be shown without them: wherever the driver
 * found them, and whichever part of the URL it took them for.
 *
 * <pre>{@code
 * Secrets secrets = Secrets.of(List.of(user, password));
 * throw new StoreUnavailableException(store + ": " + secrets.hide(e.getMessage()), secrets.hide(e));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Secrets {
    /** Shorter secrets occur by chance in many texts; hiding them would only cut these to pieces. */
    private static final int SHORTEST = 4;

    private static final String MASK = "***";
    private static final Pattern NEVER = Pattern.compile("(?!)");

    private final Pattern any;

    private Secrets(Pattern any) {
        this.any = any;
    }

    /** No secrets. */
    public static Secrets none() {
        return new Secrets(NEVER);
    }

    /** The secrets with these values, in upper and lower case; values of fewer than four characters are ignored. */
    public static Secrets of(Collection<String> values) {
        List<String> longest = values.stream()
                .filter(value -> value.length() >= SHORTEST)
                .sorted(Comparator.comparingInt(String::length).reversed())
                .map(Pattern::quote)
                .toList();
        return longest.isEmpty()
                ? none()
                : new Secrets(Pattern.compile(
                        longest.stream().collect(Collectors.joining("|")),
                        Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE));
    }

    /** Every part of a driver's text that has this form, in which a server repeats secrets. */
    public static Secrets matching(Pattern form) {
        return new Secrets(form);
    }

    /** A text without them. */
    public String hide(String text) {
        return any.matcher(text).replaceAll(MASK);
    }

    /** The failure itself where nothing in it shows one of them, its causes included; else a copy without them. */
    public Throwable hide(Throwable failure) {
        StringWriter all = new StringWriter();
        failure.printStackTrace(new PrintWriter(all));
        return any.matcher(all.toString()).find() ? new Copy(failure, this) : failure;
    }

    /** A failure with the text, the stack and the causes of another, as far as they may be shown. */
    private static final class Copy extends Exception {
        private static final long serialVersionUID = 1L;

        Copy(Throwable original, Secrets secrets) {
            super(
                    secrets.hide(original.toString()), // so that the type of the original is shown
                    original.getCause() == null ? null : secrets.hide(original.getCause()));
            setStackTrace(original.getStackTrace());
            for (Throwable each : original.getSuppressed()) {
                addSuppressed(secrets.hide(each));
            }
        }
    }
}
