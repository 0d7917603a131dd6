package dev.holdfast.zookeeper;

import java.util.HexFormat;

/**
 * Where things are: the locks under {@code /holdfast/locks}, one node each, named like the lock. What ZooKeeper or a path
 * does not allow is written as {@code %} and four hexadecimal digits for each UTF-16 unit, so that every name is another
 * node and can be read back.
 *
 * @param base what comes before: the namespace of the application's client, or nothing
 */
record Paths(String base) {
    private static final String ROOT = "/holdfast";
    private static final String LOCKS = ROOT + "/locks";
    private static final String FENCES = ROOT + "/fences";
    private static final int DIGITS = 4;

    String root() {
        return base + ROOT;
    }

    String locks() {
        return base + LOCKS;
    }

    String fences() {
        return base + FENCES;
    }

    String lock(String name) {
        return locks() + "/" + encode(name);
    }

    String fence(String resource) {
        return fences() + "/" + encode(resource);
    }

    static String encode(String name) {
        StringBuilder encoded = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (isPlain(c) && (c != '.' || i > 0)) {
                encoded.append(c);
            } else {
                encoded.append('%').append(HexFormat.of().toHexDigits(c));
            }
        }
        return encoded.toString();
    }

    static String decode(String node) {
        StringBuilder name = new StringBuilder(node.length());
        for (int i = 0; i < node.length(); i++) {
            char c = node.charAt(i);
            if (c == '%' && i + DIGITS < node.length() && isHex(node, i + 1)) {
                name.append((char) HexFormat.fromHexDigits(node, i + 1, i + 1 + DIGITS));
                i += DIGITS;
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }

    private static boolean isHex(String text, int from) {
        return text.substring(from, from + DIGITS).chars().allMatch(HexFormat::isHexDigit);
    }

    /** What ZooKeeper takes in the name of a node, without the slash, our own mark, and what looks like a line break. */
    private static boolean isPlain(char c) {
        return c >= ' '
                && c != '/'
                && c != '%'
                && !(c >= '\u007f' && c <= '\u009f')
                && !(c >= '\u2028' && c <= '\u2029')
                && !(c >= '\ud800' && c <= '\uf8ff')
                && c < '\ufff0';
    }
}
