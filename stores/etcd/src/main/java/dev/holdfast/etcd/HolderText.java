package dev.holdfast.etcd;

import dev.holdfast.Holder;
import dev.holdfast.spi.support.HolderWord;
import java.time.Duration;

/**
 * The value of a claim's key, for people to read: the lease, when the claim was made, then the claimant, between spaces,
 * each URL-encoded.
 *
 * @param lease how long the claim lives without a keep-alive
 * @param madeAt by the claimant's clock, since etcd tells no time; in milliseconds since the epoch
 */
record HolderText(Duration lease, long madeAt, Holder holder) {
    private static final HolderText UNKNOWN = new HolderText(Duration.ZERO, 0, new Holder("unknown", 0, "", ""));

    String write() {
        return String.join(
                " ",
                Long.toString(lease.toMillis()),
                Long.toString(madeAt),
                HolderWord.encode(holder.host()),
                Long.toString(holder.pid()),
                HolderWord.encode(holder.thread()),
                HolderWord.encode(holder.label()));
    }

    static HolderText read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length != 6
                || !parts[0].matches("\\d{1,15}")
                || !parts[1].matches("\\d{1,18}")
                || !parts[3].matches("\\d{1,18}")) {
            return UNKNOWN;
        }
        return new HolderText(
                Duration.ofMillis(Long.parseLong(parts[0])),
                Long.parseLong(parts[1]),
                new Holder(
                        HolderWord.decode(parts[2]),
                        Long.parseLong(parts[3]),
                        HolderWord.decode(parts[4]),
                        HolderWord.decode(parts[5])));
    }
}
