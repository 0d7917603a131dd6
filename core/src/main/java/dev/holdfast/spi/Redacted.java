package dev.holdfast.spi;

import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;

/**
 * Text from elsewhere, such as a driver's message, as people may see it: on one line, without characters that a
 * terminal would obey, and without what URLs carry of users, passwords and parameters. The engine passes everything
 * that it logs through here; a program that shows messages of a store elsewhere, such as a command line, should do the
 * same.
 *
 * <pre>{@code
 * Redacted.text("jdbc:postgresql://host/db?user=me&password=x is away")    // jdbc:postgresql://host/db is away
 * }</pre>
 */
public final class Redacted {
    /** Up to the last @ of the word: a password may itself hold an @ or a slash, and too much hidden is no harm. */
    private static final Pattern USER_INFO = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*://)\\S*@");

    private static final Pattern PARAMETERS =
            Pattern.compile("((?:[A-Za-z][A-Za-z0-9+.-]*://|jdbc:)[^\\s?;']*)[?;][^\\s']+");
    private static final Pattern PASSWORD =
            Pattern.compile("(?i)\\b(password|passwd|pwd|secret)(\\s*[=:]\\s*)[^\\s,;&'\")]+");
    private static final Pattern BREAKS = Pattern.compile("\\s*\\R\\s*");
    /** C1 controls too, marks of direction, other formats, line ends, half surrogates. */
    private static final Pattern CONTROLS = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");

    private Redacted() {}

    /** A text, without its secrets, on one line. */
    public static String text(String text) {
        String anonymous = USER_INFO.matcher(text.strip()).replaceAll("$1");
        String bare = PARAMETERS.matcher(anonymous).replaceAll("$1");
        String open = PASSWORD.matcher(bare).replaceAll("$1$2…");
        return CONTROLS.matcher(BREAKS.matcher(open).replaceAll("; ")).replaceAll("?");
    }

    /** The message of a failure, or its type if it has no message, or none that can be read. */
    public static String text(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        try {
            String message = cause.getMessage();
            if (message != null) {
                return text(message);
            }
        } catch (Throwable unreadable) {
            // also an Error: what follows the failure must be done
        }
        return cause.getClass().getName();
    }
}
