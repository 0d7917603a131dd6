package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.cluster.SlotHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The keys of one lock. The name stands in braces, so that all keys of a lock lie in one slot of a cluster; braces of its
 * own would end it too soon, and are written as {@code %7B} and {@code %7D} (and so {@code %} as {@code %25}).
 */
final class LockKeys {
    private static final String PREFIX = "holdfast:{";

    /** Where the last grant number of the locks in a slot is kept; on a single server, of all, the scripts know the key. */
    private static final String NUMBER = "holdfast:number:{";

    /** What its other keys end with, behind the key of the state: the queue, the sharers, and who they are. */
    private static final List<byte[]> SUFFIXES =
            List.of(":q".getBytes(UTF_8), ":h".getBytes(UTF_8), ":w".getBytes(UTF_8));

    private static final String RECORD = "}:r";

    private LockKeys() {}

    /** All keys of some locks, each of which has four, and behind the first the one for the slot. */
    static List<byte[]> allOf(List<byte[]> states) {
        List<byte[]> keys = new ArrayList<>(states.size() * (2 + SUFFIXES.size()));
        for (byte[] state : states) {
            keys.add(state);
            keys.add((NUMBER + SlotTags.of(SlotHash.getSlot(state)) + "}").getBytes(UTF_8));
            for (byte[] suffix : SUFFIXES) {
                byte[] key = Arrays.copyOf(state, state.length + suffix.length);
                System.arraycopy(suffix, 0, key, state.length, suffix.length);
                keys.add(key);
            }
        }
        return keys;
    }

    /** The key of a lock's state, with which its others begin; it tells the slot of all. */
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
