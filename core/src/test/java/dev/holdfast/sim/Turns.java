package dev.holdfast.sim;

import java.util.HashMap;
import java.util.Map;

/** Judges turns: those of one client who wait for a name in the same way are served in the order they came. */
final class Turns {
    private final Judge judge;
    /** When which wish was served, by its client's clock. */
    private final Map<String, Map<Integer, Long>> served = new HashMap<>();

    Turns(Judge judge) {
        this.judge = judge;
    }

    void given(Wish wish, Held held) {
        if (!wish.waits) {
            return;
        }
        String queue = wish.client.name() + wish.name + wish.mode.kind();
        Map<Integer, Long> before = served.computeIfAbsent(queue, none -> new HashMap<>());
        long at = held.sight.since();
        before.forEach((order, since) -> {
            if (order < wish.order ? at - since < 0 : at - since > 0) {
                judge.broken(
                        Rule.FIFO, held + " for wish " + wish.order + " was given out of turn beside wish " + order);
            }
        });
        before.put(wish.order, at);
    }
}
