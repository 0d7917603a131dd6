package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;

/**
 * The keys of one lock. The name stands in braces, so that all keys of a lock lie in one slot of a cluster; braces of its
 * own would end it too soon, and are written as {@code %7B} and {@code %7D} (and so {@code %} as {@code %25}).
 */
final class LockKeys {
    private static final String PREFIX = "holdfast:{";
    private static final List<String> SUFFIXES = List.of("}", "}:q", "}:h", "}:w");

    /** How many keys a lock may have. */
    static final int COUNT = 4;

    private static final String RECORD = "}:r";

    private LockKeys() {}

    /** The state, the queue, the sharers, and who they are. */
    static List<byte[]> of(String name) {
        String start = PREFIX + encode(name);
        List<byte[]> keys = new ArrayList<>(SUFFIXES.size());
        for (String suffix : SUFFIXES) {
            keys.add((start + suffix).getBytes(UTF_8));
        }
        return keys;
    }

    /** The first of them, which tells the slot of all. */
    static byte[] state(String name) {
        return (PREFIX + encode(name) + "}").getBytes(UTF_8);
    }

    /** The record of a name. */
    static byte[] record(String name) {
        return (PREFIX + encode(name) + RECORD).getBytes(UTF_8);
    }

    /** The name whose record this key holds. */
    static String recordName(String key) {
        return name(key.substring(0, key.length() - RECORD.length() + 1));
    }

    /** A pattern of Redis for the records of all names that begin so. */
    static String recordPattern(String prefix) {
        String states = pattern(prefix);
        return states.substring(0, states.length() - 1) + RECORD;
    }

    /** A pattern of Redis for the states of all locks whose names begin so. */
    static String pattern(String prefix) {
        StringBuilder pattern = new StringBuilder(PREFIX);
        encode(prefix).codePoints().forEach(c -> {
            if ("*?[]\\^-".indexOf(c) >= 0) {
                pattern.append('\\');
            }
            pattern.appendCodePoint(c);
        });
        return pattern.append("*}").toString();
    }

    /** The name whose state this key holds. */
    static String name(String stateKey) {
        return stateKey.substring(PREFIX.length(), stateKey.length() - 1)
                .replace("%7B", "{")
                .replace("%7D", "}")
                .replace("%25", "%");
    }

    private static String encode(String name) {
        return name.indexOf('%') < 0 && name.indexOf('{') < 0 && name.indexOf('}') < 0
                ? name
                : name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }
}
