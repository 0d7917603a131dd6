package dev.holdfast.spi.support;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A claim in the queue of a lock, where the store keeps one record for each claim, in the order of arrival, and the clients
 * read from the records whose turn it is.
 *
 * <p>Each claim waits for as few as can show that its turn may have come: an exclusive claim for the one before it, whatever
 * its mode; a shared one for the last before it that is not shared; one for some of {@code n} permits for the last few
 * before it whose permits leave too little. While all of those exist it cannot be its turn, so no claim is woken in
 * vain except by one that left the queue early; and since all that came before are counted, held or waiting, a large
 * claim is not starved by small ones, nor a writer by readers.
 */
public interface Queued {
    /** What it claims. */
    Mode mode();

    /** Whose it is. */
    ClaimId id();

    /**
     * The claims that a claim has to wait for; none when it is its turn. One of them goes before its turn can come.
     *
     * @param mode what it claims
     * @param before the claims that came before it, in order
     */
    static <C extends Queued> List<C> blockers(Mode mode, List<C> before) {
        if (mode instanceof Mode.Permits some) {
            return permitBlockers(some, before);
        }
        for (int i = before.size() - 1; i >= 0; i--) {
            if (mode instanceof Mode.Exclusive || !(before.get(i).mode() instanceof Mode.Shared)) {
                return List.of(before.get(i));
            }
        }
        return List.of();
    }

    private static <C extends Queued> List<C> permitBlockers(Mode.Permits wanted, List<C> before) {
        List<C> blockers = new ArrayList<>();
        long taken = wanted.permits();
        for (int i = before.size() - 1; i >= 0 && taken <= wanted.of(); i--) {
            C claim = before.get(i);
            blockers.add(claim);
            taken += claim.mode() instanceof Mode.Permits some ? some.permits() : wanted.of();
        }
        return taken <= wanted.of() ? List.of() : blockers;
    }

    /** The claims of a queue that hold the lock: those without blockers, found in one pass. */
    static <C extends Queued> List<C> holders(List<C> queue) {
        List<C> holders = new ArrayList<>();
        long permits = 0;
        long readers = 0;
        long writers = 0;
        for (C claim : queue) {
            boolean holds;
            if (claim.mode() instanceof Mode.Permits some) {
                holds = permits + some.permits() + (readers + writers) * some.of() <= some.of();
                permits += some.permits();
            } else if (claim.mode() instanceof Mode.Shared) {
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

    /** The claims of a queue that wait, each once: one that was made again may have an earlier record for a while. */
    static <C extends Queued> List<C> waiting(List<C> queue) {
        Set<C> holders = new HashSet<>(holders(queue));
        Set<ClaimId> known = new HashSet<>();
        holders.forEach(claim -> known.add(claim.id()));
        return queue.stream()
                .filter(claim -> !holders.contains(claim) && known.add(claim.id()))
                .toList();
    }

    /** Whether a claim of a queue waits. */
    static boolean isContended(List<? extends Queued> queue) {
        return queue.size() > holders(queue).size();
    }
}
