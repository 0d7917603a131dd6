package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Queued;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A claim as its key says, in the queue of its lock: the claims are ordered by the revisions that made their keys, and a
 * later claim never matters to an earlier one.
 *
 * @param number the revision that made the key; of a grant, its number
 * @param modified the revision that changed it last: another one once the grant was broken
 * @param lease whose end removes it
 * @param text who claims, for people; empty where only keys were read
 */
record QueuedClaim(
        ByteSequence key, String name, Mode mode, ClaimId id, long number, long modified, long lease, String text)
        implements Queued {
    private static final Pattern CLAIM = Pattern.compile("(x|s|p(\\d{1,9})of(\\d{1,9}))-([0-9a-f]{32})");

    /** The claims among some keys, in the order of their queues; the keys of other programs are passed over. */
    static List<QueuedClaim> of(Keys keys, Collection<KeyValue> found) {
        List<QueuedClaim> claims = new ArrayList<>(found.size());
        found.forEach(kv -> parse(keys, kv).ifPresent(claims::add));
        claims.sort(Comparator.comparingLong(QueuedClaim::number));
        return claims;
    }

    boolean isBroken() {
        return modified != number;
    }

    private static Optional<QueuedClaim> parse(Keys keys, KeyValue kv) {
        String path = kv.getKey().toString(UTF_8);
        int end = path.indexOf(Keys.END);
        Matcher parts = CLAIM.matcher(path.substring(end + 1));
        return end < 0 || !path.startsWith(keys.locks()) || !parts.matches()
                ? Optional.empty()
                : mode(parts)
                        .map(mode -> new QueuedClaim(
                                kv.getKey(),
                                path.substring(keys.locks().length(), end),
                                mode,
                                ClaimId.of(parts.group(4)),
                                kv.getCreateRevision(),
                                kv.getModRevision(),
                                kv.getLease(),
                                kv.getValue().toString(UTF_8)));
    }

    private static Optional<Mode> mode(Matcher parts) {
        return switch (parts.group(1)) {
            case "x" -> Optional.of(Mode.EXCLUSIVE);
            case "s" -> Optional.of(Mode.SHARED);
            default -> permits(Integer.parseInt(parts.group(2)), Integer.parseInt(parts.group(3)));
        };
    }

    private static Optional<Mode> permits(int permits, int of) {
        return permits < 1 || permits > of ? Optional.empty() : Optional.of(new Mode.Permits(permits, of));
    }
}
