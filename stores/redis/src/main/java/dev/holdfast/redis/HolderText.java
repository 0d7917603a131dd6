package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.Holder;
import java.net.URLDecoder;
import java.net.URLEncoder;

/**
 * The holder, as text in a lock's state: host, process, thread and label between spaces, each URL-encoded. A channel
 * may follow them.
 */
final class HolderText {
    private static final Holder UNKNOWN = new Holder("unknown", 0, "", "");
    private static final int PARTS = 4;

    private HolderText() {}

    static String write(Holder holder) {
        return encode(holder.host())
                + ' '
                + holder.pid()
                + ' '
                + encode(holder.thread())
                + ' '
                + encode(holder.label());
    }

    /** An unknown holder while an offer is not confirmed yet. */
    static Holder read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length < PARTS || parts.length > PARTS + 1 || !parts[1].matches("\\d{1,18}")) {
            return UNKNOWN;
        }
        return new Holder(decode(parts[0]), Long.parseLong(parts[1]), decode(parts[2]), decode(parts[3]));
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
