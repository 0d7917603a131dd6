package dev.holdfast.spi.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.net.URLEncoder;

/**
 * A word of a holder (its host, its thread or its label) as a store keeps it between spaces: URL-encoded, in UTF-8.
 *
 * <p>Most words need no encoding. They are returned as they are after a plain loop, because a claim writes three of them:
 * in a JVM that has just started, {@link URLEncoder} takes several times as long. Thread-safe.
 */
public final class HolderWord {
    private HolderWord() {}

    /**
     * A text without spaces that {@link #decode} turns back.
     *
     * @param text any text; empty stays empty
     */
    public static String encode(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!isPlain(text.charAt(i))) {
                return URLEncoder.encode(text, UTF_8);
            }
        }
        return text;
    }

    /** What was encoded; a text that was not is returned as it is. */
    public static String decode(String text) {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException foreign) {
            return text;
        }
    }

    /** The characters that {@link URLEncoder} leaves as they are. */
    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '.'
                || c == '_'
                || c == '*';
    }
}
