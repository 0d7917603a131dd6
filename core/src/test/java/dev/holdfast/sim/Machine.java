package dev.holdfast.sim;

import org.jspecify.annotations.Nullable;

/** A machine with its clocks and its line to the server; one client process at a time runs on it. */
final class Machine implements World.Owner {
    private static final long SETTLED = 1_000_000;

    final World world;
    final String name;
    final Clock clock;
    final Link link;
    private final Server server;
    private final Setting setting;
    private final int number;
    private int boots;
    private @Nullable Client client;
    private long standsUntil = -SETTLED;
    private boolean slept;

    Machine(World world, int number, Server server, Setting setting) {
        this.world = world;
        this.number = number;
        this.name = "m" + number;
        this.server = server;
        this.setting = setting;
        this.clock = new Clock(world);
        this.link = new Link(world, name, setting);
    }

    @Override
    public long runsAt(long now) {
        return Math.max(now, standsUntil);
    }

    /**
     * Whether its timers are on time: it has been running for a little while, and did not sleep lately. After a sleep
     * holds are invalid at once, but that is found out when {@code nanoTime} says that the next look is due.
     */
    boolean isPunctual() {
        return world.now() >= standsUntil + SETTLED && (!slept || world.now() >= standsUntil + setting.longestLease());
    }

    void boot() {
        Client started = new Client(this, number * 1_000 + ++boots, server, setting);
        client = started;
        started.begin();
    }

    @Nullable
    Client client() {
        return client;
    }

    /** The process dies, and another is started later. */
    void crash(long downFor) {
        Client dying = client;
        if (dying == null || !dying.isAlive()) {
            return;
        }
        world.counts.add(Happening.CLIENT_CRASHED);
        world.timeline.note(name, () -> "crashes");
        dying.die();
        world.after(downFor, this, this::boot);
    }

    /** All its processes are stopped; its clocks go on. */
    void pauseFor(long nanos) {
        world.counts.add(Happening.CLIENT_PAUSED);
        world.timeline.note(name, () -> "stops for " + nanos / 1_000_000 + " ms");
        standsUntil = Math.max(standsUntil, world.now() + nanos);
    }

    /** It sleeps: {@code nanoTime} stops, the wall clock does not. */
    void sleepFor(long nanos) {
        if (clock.isAsleep()) {
            return;
        }
        world.counts.add(Happening.MACHINE_SLEPT);
        world.timeline.note(name, () -> "sleeps for " + nanos / 1_000_000 + " ms");
        clock.fallAsleep();
        slept = true;
        standsUntil = Math.max(standsUntil, world.now() + nanos);
        world.after(nanos, World.NATURE, clock::wakeUp);
    }

    void stepWall(long nanos) {
        world.counts.add(Happening.WALL_CLOCK_STEPPED);
        world.timeline.note(name, () -> "wall clock set by " + nanos / 1_000_000 + " ms");
        clock.stepWall(nanos);
    }
}
