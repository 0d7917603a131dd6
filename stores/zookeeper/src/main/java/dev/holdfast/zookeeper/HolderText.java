package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.Holder;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.Duration;

/**
 * The text of a claim's node, for people to read: the lease, then the claimant, between spaces, each URL-encoded.
 *
 * @param lease how long the session lives without a request
 * @param holder the claimant
 */
record HolderText(Duration lease, Holder holder) {
    private static final Holder UNKNOWN = new Holder("unknown", 0, "", "");
    private static final int PARTS = 5;

    String write() {
        return lease.toMillis()
                + " "
                + encode(holder.host())
                + " "
                + holder.pid()
                + " "
                + encode(holder.thread())
                + " "
                + encode(holder.label());
    }

    static HolderText read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length != PARTS || !parts[0].matches("\\d{1,9}") || !parts[2].matches("\\d{1,18}")) {
            return new HolderText(Duration.ZERO, UNKNOWN);
        }
        return new HolderText(
                Duration.ofMillis(Long.parseLong(parts[0])),
                new Holder(decode(parts[1]), Long.parseLong(parts[2]), decode(parts[3]), decode(parts[4])));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException foreign) {
            return text;
        }
    }
}
