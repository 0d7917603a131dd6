package dev.holdfast.redis;

import dev.holdfast.Holder;
import dev.holdfast.spi.support.HolderWord;

/**
 * The holder, as text in a lock's state: host, process, thread and label between spaces, each URL-encoded. A channel
 * may follow them.
 */
final class HolderText {
    private static final Holder UNKNOWN = new Holder("unknown", 0, "", "");
    private static final int PARTS = 4;

    private HolderText() {}

    static String write(Holder holder) {
        return HolderWord.encode(holder.host())
                + ' '
                + holder.pid()
                + ' '
                + HolderWord.encode(holder.thread())
                + ' '
                + HolderWord.encode(holder.label());
    }

    /** An unknown holder while an offer is not confirmed yet. */
    static Holder read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length < PARTS || parts.length > PARTS + 1 || !parts[1].matches("\\d{1,18}")) {
            return UNKNOWN;
        }
        return new Holder(
                HolderWord.decode(parts[0]),
                Long.parseLong(parts[1]),
                HolderWord.decode(parts[2]),
                HolderWord.decode(parts[3]));
    }
}
