package dev.holdfast.sim;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Judges hand-over. A hold that begins in the instant in which another one under the same grant was closed was handed
 * over at once, without asking the store: then all bounds count. Otherwise the grant was renewed for it, or retained.
 */
final class HandOvers {
    /** A close, as it was just before. */
    private record Close(long at, boolean valid, long remaining, long lease, boolean autoRenew, boolean retained) {}

    private final Judge judge;
    private final Map<String, Map<Long, Close>> closes = new HashMap<>();
    private final Map<String, Long> blocks = new HashMap<>();

    HandOvers(Judge judge) {
        this.judge = judge;
    }

    void closes(Held held) {
        Close close = new Close(
                held.client.time.nanoTime(),
                held.sight.isValid(),
                held.sight.remaining(),
                held.sight.lease(),
                held.options.autoRenew(),
                !held.options.retain().isZero());
        closes.computeIfAbsent(held.id.value(), none -> new HashMap<>()).put(close.at, close);
    }

    void given(Held held) {
        long began = held.sight.since();
        long blockBegan = blocks.computeIfAbsent(held.id.value() + held.token / 1024, first -> began);
        if (held.index() == 0) {
            return;
        }
        held.client.world.counts.add(Happening.HANDED_OVER);
        if (held.index() == held.options.maxHandOvers()) {
            held.client.world.counts.add(Happening.HANDED_OVER_TO_THE_BOUND);
        }
        Map<Long, Close> before = closes.getOrDefault(held.id.value(), Map.of());
        boolean retained = before.values().stream().anyMatch(Close::retained); // then nobody may have waited elsewhere
        check(held, retained || held.index() <= held.options.maxHandOvers(), "too often");
        check(held, !held.options.strictFifo(), "though it asked for strict order");
        Close close = before.get(began);
        if (close != null) {
            checkAtOnce(held, close, retained ? 0 : began - blockBegan);
        }
    }

    private void checkAtOnce(Held held, Close close, long blockAge) {
        check(held, blockAge <= held.options.maxHandOverTime().toNanos(), "too late");
        check(held, close.valid, "from a hold that was not valid");
        check(held, close.remaining >= close.lease / 3, "with too little of the lease left");
        check(held, close.autoRenew == held.options.autoRenew(), "with another kind of renewal");
        check(held, close.lease == held.options.lease().toNanos(), "with another lease");
    }

    private void check(Held held, boolean good, @Nullable String what) {
        if (!good) {
            judge.broken(Rule.HAND_OVER, held + " was handed over " + what);
        }
    }
}
