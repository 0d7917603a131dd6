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
 * Judges how readers share a grant. Whoever joins those who have it must not have come after a writer of the same client
 * who still waits; and the store must have said, not longer ago than the bounds of hand-over, that nobody waits.
 */
final class Joining {
    /** One who came in beside others, and when, by its client's clock. */
    private record Joined(Held reader, int order, long at) {}

    private final Judge judge;
    /** When each grant was given, or nobody was heard to wait for it, by its client's clock. */
    private final Map<String, Long> openSince = new HashMap<>();

    private final Map<String, List<Joined>> joined = new HashMap<>();

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
        if (since == null || at - since < 0) { // a thread may see what it got after those that joined it
            openSince.put(held.id.value(), at);
        } else {
            counts.add(Happening.JOINED);
            HoldOptions options = held.options;
            check(held, !options.strictFifo(), "though it asked for strict order");
            check(held, at - since <= options.maxHandOverTime().toNanos(), "too late");
            joined.computeIfAbsent(queue(wish), none -> new ArrayList<>()).add(new Joined(held, wish.order, at));
        }
    }

    private void writer(Wish wish, Held held) {
        for (Joined each : joined.getOrDefault(queue(wish), List.of())) {
            boolean passed = each.order > wish.order && each.at - held.sight.since() < 0;
            check(each.reader, !passed, "though " + held + " was asked for before");
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
            judge.broken(Rule.JOINING, held + " joined others " + what);
        }
    }
}
