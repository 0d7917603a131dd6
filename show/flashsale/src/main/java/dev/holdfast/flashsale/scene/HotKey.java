package dev.holdfast.flashsale.scene;

import dev.holdfast.LockClient;
import dev.holdfast.recipes.SharedCache;
import dev.holdfast.recipes.SingleFlight;
import java.util.ArrayList;
import java.util.List;

/** A hot entry of a cache has expired, and all readers want it: each loads it, or one for all. */
final class HotKey implements Scene {
    private static final long LOADING = 400; // milliseconds
    private static final long VALUE = 42;

    private final SharedCache<Long> cache;
    private final SingleFlight<Long> flight;

    HotKey(LockClient client, Notes notes) {
        cache = notes.cache();
        flight = SingleFlight.of(client, "hot-key", cache);
    }

    @Override
    public List<Span> play(Part part) throws InterruptedException {
        String lane = part.server() + "/" + part.actor();
        List<Span> spans = new ArrayList<>();
        long began = Span.now();
        if (part.way().equals(PLAIN)) {
            if (cache.get(part.run()).isEmpty()) {
                cache.put(part.run(), load(lane, spans), 0);
            }
        } else {
            flight.get(part.run(), key -> load(lane, spans));
        }
        if (spans.isEmpty()) {
            spans.add(Span.since(began, lane, "wait", VALUE));
        }
        return spans;
    }

    private static long load(String lane, List<Span> spans) throws InterruptedException {
        long began = Span.now();
        Thread.sleep(LOADING);
        spans.add(Span.since(began, lane, "load", VALUE));
        return VALUE;
    }
}
