package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
        ByteSequence key, String name, Mode mode, ClaimId id, long number, long modified, long lease, String text) {
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

    /** The claims that a claim has to wait for; none when it is its turn. One of them goes before its turn can come. */
    static List<QueuedClaim> blockers(Mode mode, List<QueuedClaim> before) {
        if (mode instanceof Mode.Permits some) {
            return permitBlockers(some, before);
        }
        for (int i = before.size() - 1; i >= 0; i--) {
            if (mode instanceof Mode.Exclusive || !(before.get(i).mode instanceof Mode.Shared)) {
                return List.of(before.get(i));
            }
        }
        return List.of();
    }

    private static List<QueuedClaim> permitBlockers(Mode.Permits wanted, List<QueuedClaim> before) {
        List<QueuedClaim> blockers = new ArrayList<>();
        long taken = wanted.permits();
        for (int i = before.size() - 1; i >= 0 && taken <= wanted.of(); i--) {
            QueuedClaim claim = before.get(i);
            blockers.add(claim);
            taken += claim.mode instanceof Mode.Permits some ? some.permits() : wanted.of();
        }
        return taken <= wanted.of() ? List.of() : blockers;
    }

    /** The claims of a queue that hold the lock: those without blockers, found in one pass. */
    static List<QueuedClaim> holders(List<QueuedClaim> queue) {
        List<QueuedClaim> holders = new ArrayList<>();
        long permits = 0;
        long readers = 0;
        long writers = 0;
        for (QueuedClaim claim : queue) {
            boolean holds;
            if (claim.mode instanceof Mode.Permits some) {
                holds = permits + some.permits() + (readers + writers) * some.of() <= some.of();
                permits += some.permits();
            } else if (claim.mode instanceof Mode.Shared) {
                holds = permits + writers == 0;
                readers++;
            } else {
                holds = permits + readers + writers == 0;
                writers++;
            }
            if (holds) {
                holders.add(claim);
            }
        }
        return holders;
    }

    /** The claims of a queue that wait. */
    static List<QueuedClaim> waiting(List<QueuedClaim> queue) {
        Set<QueuedClaim> holders = new HashSet<>(holders(queue));
        return queue.stream().filter(claim -> !holders.contains(claim)).toList();
    }

    static boolean isContended(List<QueuedClaim> queue) {
        return queue.size() > holders(queue).size();
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
