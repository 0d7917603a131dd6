package dev.holdfast.sim;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.spi.Grant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Judges how readers come in, and share a grant. Nobody who joins others may have come after a writer of the same client who
 * still waits; nor may one who comes in by a grant of its own, where the store has kept the order of claims. And the store
 * must have said, not longer ago than the bounds of hand-over, that nobody waits.
 */
final class Joining {
    /** A reader who came in, and when, by its client's clock. */
    private record Reader(Held held, int order, long at, boolean joined) {}

    private final Judge judge;
    /** When each grant was given, or nobody was heard to wait for it, by its client's clock. */
    private final Map<String, Long> openSince = new HashMap<>();

    private final Map<String, List<Reader>> readers = new HashMap<>();

    Joining(Judge judge) {
        this.judge = judge;
    }

    void given(Wish wish, Held held) {
        if (held.mode.kind() == LockMode.SHARED) {
            reader(wish, held);
        } else if (held.mode.kind() == LockMode.EXCLUSIVE && wish.waits) {
            writer(wish, held);
        }
    }

    private void reader(Wish wish, Held held) {
        Counts counts = held.client.world.counts;
        counts.add(Happening.SHARED);
        long at = held.sight.since();
        Long since = openSince.get(held.id.value());
        boolean joined = since != null && at - since >= 0; // a thread may see what it got after those that joined it
        if (!joined) {
            openSince.put(held.id.value(), at);
        } else {
            counts.add(Happening.JOINED);
            HoldOptions options = held.options;
            check(held, !options.strictFifo(), "though it asked for strict order");
            check(held, at - since <= options.maxHandOverTime().toNanos(), "too late");
        }
        if (joined || wish.waits) {
            readers.computeIfAbsent(queue(wish), none -> new ArrayList<>())
                    .add(new Reader(held, wish.order, at, joined));
        }
    }

    private void writer(Wish wish, Held held) {
        for (Reader each : readers.getOrDefault(queue(wish), List.of())) {
            boolean passed = each.order > wish.order && each.at - held.sight.since() < 0;
            boolean sees = each.joined || judge.storeKeptOrder();
            check(each.held, !passed || !sees, "though " + held + " was asked for before");
        }
    }

    /** A writer became a reader: others may come in beside it. */
    void opened(Held held) {
        openSince.put(held.id.value(), held.client.time.nanoTime());
    }

    void heardNobodyWaits(Client client, Grant grant) {
        openSince.computeIfPresent(grant.id().value(), (id, since) -> client.time.nanoTime());
    }

    private static String queue(Wish wish) {
        return wish.client.name() + wish.name;
    }

    private void check(Held held, boolean good, @Nullable String what) {
        if (!good) {
            judge.broken(Rule.JOINING, held + " came in " + what);
        }
    }
}
