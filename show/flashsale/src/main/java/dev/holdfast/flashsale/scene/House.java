package dev.holdfast.flashsale.scene;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.util.ArrayList;
import java.util.List;

/**
 * A house of several rooms, each a key. Visitors may be in a room together; a painter wants it alone. Every fifth actor
 * paints. The house has no lock, one for all rooms, or a read-write lock for each.
 */
final class House implements Scene {
    private static final List<String> ROOMS = List.of("hall", "kitchen", "study", "attic");
    private static final int PAINTERS = 5;
    private static final long VISIT = 120; // milliseconds
    private static final long PAINT = 200;

    private final LockClient client;

    House(LockClient client) {
        this.client = client;
    }

    @Override
    public List<Span> play(Part part) throws InterruptedException {
        boolean paints = part.actor() % PAINTERS == 0;
        List<Span> spans = new ArrayList<>();
        for (int i = 0; i < ROOMS.size(); i++) {
            String room = ROOMS.get((part.actor() + i) % ROOMS.size()); // each begins elsewhere
            if (part.way().equals(PLAIN)) {
                use(room, paints, part, spans);
            } else {
                try (Hold hold = lock(part, room, paints).acquire()) {
                    use(room, paints, part, spans);
                }
            }
        }
        return spans;
    }

    private DistributedLock lock(Part part, String room, boolean paints) {
        String house = "house:" + part.run();
        if (part.way().equals("house")) {
            return client.lock(house);
        }
        var rooms = client.readWriteLock(house + "/" + room);
        return paints ? rooms.write() : rooms.read();
    }

    private static void use(String room, boolean paints, Part part, List<Span> spans) throws InterruptedException {
        long began = Span.now();
        Thread.sleep(paints ? PAINT : VISIT);
        spans.add(Span.since(began, room, paints ? "paint" : "visit", part.server()));
    }
}
