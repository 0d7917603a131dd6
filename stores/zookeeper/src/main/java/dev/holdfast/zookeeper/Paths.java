package dev.holdfast.zookeeper;

import java.util.HexFormat;

/**
 * The paths of all nodes: the locks under {@code /holdfast/locks}, in buckets, one node each, named like the lock. A
 * character that ZooKeeper or a path does not allow is written as {@code %} and four hexadecimal digits for each UTF-16
 * unit, so that every name is another node and can be read back.
 *
 * <p>The buckets are there to be listed: a client refuses an answer of more than a megabyte, and breaks the connection off
 * that all its holds need. The bucket of a name is a hash of it, three hexadecimal digits.
 *
 * @param base what comes before: the namespace of the application's client, or nothing
 */
record Paths(String base) {
    private static final String ROOT = "/holdfast";
    private static final String LOCKS = ROOT + "/locks";
    private static final String FENCES = ROOT + "/fences";
    private static final String RECORDS = ROOT + "/records";
    private static final int DIGITS = 4;
    private static final int BUCKET_BITS = 10;
    /** How many buckets there may be at most. */
    static final int BUCKETS = 1 << BUCKET_BITS;

    private static final int BUCKET_DIGITS = 3;
    private static final int RECORD_BUCKET_BITS = 15;
    private static final int RECORD_BUCKET_DIGITS = 4;
    private static final int SCATTER = 0x9E3779B9;

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
        return bucket(name) + "/" + encode(name);
    }

    /** The node under which the node of a lock is. */
    String bucket(String name) {
        return locks() + "/" + bucketOf(name, BUCKET_BITS, BUCKET_DIGITS);
    }

    private static String bucketOf(String name, int bits, int digits) {
        int hash = name.hashCode() * SCATTER >>> Integer.SIZE - bits;
        return HexFormat.of().toHexDigits(hash, digits);
    }

    /** The node above all records; a write to it returns the servers' clock. */
    String records() {
        return base + RECORDS;
    }

    String record(String name) {
        return recordBucket(name) + "/" + encode(name);
    }

    /**
     * The node under which the node of a record is. A lock is removed when no client uses it, a record stays for days:
     * so there are more of these buckets, which hold 16 million records before one is too full to be listed, and with
     * it to be purged.
     */
    String recordBucket(String name) {
        return records() + "/" + bucketOf(name, RECORD_BUCKET_BITS, RECORD_BUCKET_DIGITS);
    }

    String fence(String resource) {
        return fences() + "/" + encode(resource);
    }

    /** The node that a node is under. */
    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
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

    /**
     * The characters that ZooKeeper accepts in the name of a node, without the slash, our own mark, and line breaks of
     * any kind.
     */
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
