package dev.holdfast.zookeeper;

import dev.holdfast.Holder;
import dev.holdfast.spi.support.HolderWord;
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
                + HolderWord.encode(holder.host())
                + " "
                + holder.pid()
                + " "
                + HolderWord.encode(holder.thread())
                + " "
                + HolderWord.encode(holder.label());
    }

    static HolderText read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length != PARTS || !parts[0].matches("\\d{1,9}") || !parts[2].matches("\\d{1,18}")) {
            return new HolderText(Duration.ZERO, UNKNOWN);
        }
        return new HolderText(
                Duration.ofMillis(Long.parseLong(parts[0])),
                new Holder(
                        HolderWord.decode(parts[1]),
                        Long.parseLong(parts[2]),
                        HolderWord.decode(parts[3]),
                        HolderWord.decode(parts[4])));
    }
}
