package dev.holdfast.cli;

import java.util.regex.Pattern;

/**
 * Text of others as a terminal may get it. A name or a label comes from whoever can write to the store: without this it
 * could move the cursor, hide a line, or show itself in another order than it is read.
 */
final class Printable {
    private static final Pattern BREAKS = Pattern.compile("\\s*\\R\\s*");

    /** Controls (C1 too), formats (all marks of direction are such), line ends, half surrogates, private use. */
    private static final Pattern COMMANDS = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Co}]");

    private Printable() {}

    /** The text with a question mark for each character that a terminal could obey. */
    static String text(String text) {
        return COMMANDS.matcher(text).replaceAll("?");
    }

    /** The same, with its lines joined. */
    static String oneLine(String text) {
        return text(BREAKS.matcher(text.strip()).replaceAll("; "));
    }

    /**
     * The beginning of a text, with an ellipsis where something was left out.
     *
     * @param characters at most so many, counted as people count
     * @param units at most so many UTF-16 units, as the limits of names and labels are counted
     */
    static String shortened(String text, int characters, int units) {
        if (text.codePointCount(0, text.length()) <= characters && text.length() <= units) {
            return text;
        }
        int end = 0;
        for (int count = 1; count < characters; count++) {
            int next = text.offsetByCodePoints(end, 1);
            if (next >= units) {
                break;
            }
            end = next;
        }
        return text.substring(0, end) + "…";
    }
}
