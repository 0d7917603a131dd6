package dev.holdfast.internal;

import dev.holdfast.spi.Mode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rules for names, and how a namespace is put before them. */
public final class Names {
    private static final int LONGEST = 255;
    private static final int LONGEST_LABEL = 100;
    private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Pattern LITERAL = Pattern.compile("[^*?]+");

    private final String prefix;

    Names(String namespace) {
        this.prefix = namespace.isEmpty() ? "" : namespace + ":";
    }

    /** A namespace, checked. */
    public static String checkNamespace(String namespace) {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException(
                    "a namespace is 1 to 64 letters, digits, dots, dashes or underscores, not '" + printable(namespace)
                            + "'");
        }
        return namespace;
    }

    /** A label, checked. */
    public static String checkLabel(String label) {
        if (label.length() > LONGEST_LABEL || hasForbiddenCharacter(label)) {
            throw new IllegalArgumentException("a label has at most " + LONGEST_LABEL
                    + " characters, none of them a control character: '" + printable(label) + "'");
        }
        return label;
    }

    /** A name, checked. */
    LockName of(String name, Mode mode) {
        String full = prefix.isEmpty() ? name : prefix + name; // one text for both: many locks may be held
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a lock's name must not be empty");
        }
        if (full.length() > LONGEST) {
            throw new IllegalArgumentException("a lock's name has at most " + LONGEST + " characters, namespace"
                    + " included; this one has " + full.length() + ": '" + printable(name) + "'");
        }
        if (hasForbiddenCharacter(full)) {
            throw new IllegalArgumentException(
                    "a lock's name has no control characters and no half surrogates: '" + printable(name) + "'");
        }
        return new LockName(name, full, mode);
    }

    /** A name in the store as the client knows it. */
    String inClient(String inStore) {
        return inStore.substring(prefix.length());
    }

    /** The prefix of matching names in the store: all before the pattern's first wild card. */
    String prefixOf(String pattern) {
        int wild = 0;
        while (wild < pattern.length() && "*?".indexOf(pattern.charAt(wild)) < 0) {
            wild++;
        }
        return prefix + pattern.substring(0, wild);
    }

    /**
     * A pattern in which {@code *} matches any characters and {@code ?} one. What follows a star is taken where it comes first,
     * but for the last star: another place could match no more. Otherwise a few stars would take years.
     */
    static Pattern glob(String pattern) {
        String text = LITERAL.matcher(pattern)
                .replaceAll(found -> Matcher.quoteReplacement(Pattern.quote(found.group())))
                .replace('?', '.');
        int last = text.lastIndexOf('*');
        String regex = last < 0
                ? text
                : text.substring(0, last).replaceAll("\\*([^*]*)", "(?>.*?$1)") + ".*" + text.substring(last + 1);
        return Pattern.compile(regex, Pattern.DOTALL);
    }

    /** A loop, as this is asked for each lock: in a JVM that has just started, a stream takes many times as long. */
    private static boolean hasForbiddenCharacter(String text) {
        for (int i = 0; i < text.length(); i++) {
            int c = text.codePointAt(i);
            if (Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE) {
                return true;
            }
            if (Character.isSupplementaryCodePoint(c)) {
                i++;
            }
        }
        return false;
    }

    /** Bounded and without control characters, for a one-line message. */
    private static String printable(String text) {
        String shown = text.length() <= 60 ? text : text.substring(0, 60) + "…";
        return shown.replaceAll("\\p{Cntrl}|\\p{Cs}", "?");
    }
}
