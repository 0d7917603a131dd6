package dev.holdfast.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One run of a world from its seed to its end. */
final class Schedule {
    private static final long PATIENCE_LEASES = 200;

    /**
     * What came of it.
     *
     * @param verdict the first rule broken; null if none was
     * @param timeline what happened, if that was kept
     */
    record Outcome(long seed, Judge.@Nullable Verdict verdict, Counts counts, String timeline) {}

    private Schedule() {}

    /** Plays the schedule of a seed. */
    static Outcome play(long seed, boolean traced) {
        World world = new World(seed, traced);
        Setting setting = Setting.thrown(world.dice);
        world.timeline.note("world", () -> "seed " + seed + ", " + setting);
        Server server = new Server(world, Duration.ofNanos(world.dice.part(setting.lease(), 20, 100)));
        List<Machine> machines = new ArrayList<>();
        world.judge.consult(setting, server, machines);
        for (int i = 1; i <= setting.machines(); i++) {
            machines.add(new Machine(world, i, server, setting));
        }
        machines.forEach(Machine::boot);
        new Nemesis(world, setting, server, machines).plan();
        world.runUntil(setting.chaos());
        world.timeline.note("world", () -> "calm from now on");
        world.runUntil(setting.chaos() + setting.longestLease() * PATIENCE_LEASES);
        if (!world.judge.hasSpoken()) {
            world.judge.conclude(server, machines);
        }
        return new Outcome(seed, world.judge.verdict(), world.counts, world.timeline.toString());
    }
}
