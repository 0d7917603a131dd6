package dev.holdfast.sim;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The server's offers: pushed to whoever waits, and passed on where they are not confirmed in time. */
final class Offers {
    private final Server server;
    private final World world;
    private final TimeSource time;
    private final Duration window;
    private final Map<ClaimId, Grant> offers = new HashMap<>();

    Offers(Server server, World world, TimeSource time, Duration window) {
        this.server = server;
        this.world = world;
        this.time = time;
        this.window = window;
    }

    void make(Connection to, Claim claim, Grant grant) {
        world.counts.add(Happening.OFFERED);
        note(() -> "offers " + claim.name() + " to " + Ids.of(claim.id()) + ", number " + Server.number(grant));
        offers.put(claim.id(), grant);
        to.offer.accept(claim.id());
        time.schedule(
                () -> {
                    if (offers.remove(claim.id(), grant)) {
                        world.counts.add(Happening.OFFER_PASSED_ON);
                        note(() -> "passes on the offer to " + Ids.of(claim.id()));
                        server.release(to, grant, released -> {});
                    }
                },
                window);
    }

    void confirm(ClaimId id) {
        if (offers.remove(id) != null) {
            world.counts.add(Happening.OFFER_CONFIRMED);
        }
    }

    void forget(ClaimId id) {
        offers.remove(id);
    }

    void clear() {
        offers.clear();
    }

    @Override
    public String toString() {
        return offers.keySet().toString();
    }

    private void note(Supplier<String> what) {
        world.timeline.note("server", what);
    }
}
