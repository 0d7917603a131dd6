package dev.holdfast.tck.fuzz;

import dev.holdfast.testbed.ServerClock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The server's clock, set while locks are held. Ahead, leases end at once; back, they end as much later. A lease that
 * had run out, and whose lock nobody took since, may stand again when the clock is set back: then it is left as it is.
 */
final class Clock {
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long MORE = TimeUnit.HOURS.toMillis(1);

    private final World world;
    private long offset;
    private long lowest;

    Clock(World world) {
        this.world = world;
    }

    void set(Op op) {
        Optional<ServerClock> clock = world.target.clock();
        world.inbox.drain();
        if (clock.isEmpty() || (op.millis() < 0 && !standsOrIsGone(System.nanoTime() + SOON))) {
            return;
        }
        world.stats.planned.increment();
        world.stats.bitten.increment();
        world.stats.reach("the server's clock is set " + (op.millis() < 0 ? "back" : "ahead"), true);
        step(clock.get(), op.millis());
    }

    private void step(ServerClock clock, long millis) {
        long before = System.nanoTime();
        offset += millis;
        lowest = Math.min(lowest, offset);
        clock.set(Duration.ofMillis(offset));
        long now = System.nanoTime();
        if (millis < 0 && !standsOrIsGone(now)) {
            throw new TooWide(); // it took too long
        }
        world.clockSetBack |= millis < 0;
        world.names.values().forEach(each -> each.clockSet(TimeUnit.MILLISECONDS.toNanos(millis), before, now));
        if (millis > 0) {
            world.all().forEach(each -> each.sureUntil = 0);
        }
    }

    /** Whether every grant that was not given back surely holds until then. */
    private boolean standsOrIsGone(long then) {
        return world.all()
                .filter(each -> !each.gone && (each.grant != null || each.unknown))
                .allMatch(each -> !each.unknown && world.model(each.name).isSure(each.label, then));
    }

    /** So far ahead that all leases are over, since otherwise what nobody gives back would stand for an hour. */
    void end() {
        if (lowest < 0) {
            world.inbox.drain();
            step(world.target.clock().orElseThrow(), MORE - lowest);
        }
    }

    /** As it was, for the next history. */
    void reset() {
        if (offset != 0) {
            world.target.clock().ifPresent(clock -> clock.set(Duration.ZERO));
        }
    }
}
