package dev.holdfast.cli;

import java.util.regex.Pattern;

/**
 * Takes what may be secret out of text that people will see: user, password and parameters of URLs, and the password of
 * the environment, should a driver have put it into a message.
 */
final class Redaction {
    /** Up to the last @ of the word: a password may itself hold an @ or a slash, and too much hidden is no harm. */
    private static final Pattern USER_INFO = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*://)\\S*@");

    private static final Pattern PARAMETERS =
            Pattern.compile("((?:[A-Za-z][A-Za-z0-9+.-]*://|jdbc:)[^\\s?;']*)[?;][^\\s']+");
    private static final Pattern LINE_BREAKS = Pattern.compile("\\s*\\R\\s*");
    private static final Pattern CONTROLS = Pattern.compile("\\p{Cntrl}");

    private static final int SHORTEST_SECRET = 4;

    private Redaction() {}

    static String of(String text) {
        return of(text, System.getenv().getOrDefault(StoreUrl.PASSWORD_VARIABLE, ""));
    }

    static String of(String text, String password) {
        // One of a letter or two is a part of every message; nobody is helped when those are cut to pieces.
        String open = password.length() < SHORTEST_SECRET ? text : text.replace(password, "***");
        String anonymous = USER_INFO.matcher(open).replaceAll("$1");
        return PARAMETERS.matcher(anonymous).replaceAll("$1");
    }

    /** The same on one line, without characters that a terminal would obey. */
    static String oneLine(String text) {
        String line = LINE_BREAKS.matcher(of(text.strip())).replaceAll("; ");
        return CONTROLS.matcher(line).replaceAll("?");
    }
}
