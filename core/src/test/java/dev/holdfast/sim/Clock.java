package dev.holdfast.sim;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/**
 * The clocks of one machine: both run a little too fast or too slow, {@code nanoTime} stands still while the machine
 * sleeps, and the wall clock is stepped now and then.
 *
 * <p>Two machines' rates differ by less than 1 %, which is what the engine's margin allows for.
 */
final class Clock {
    /** Parts per million a clock may be off: two of them together stay below the engine's 1 %. */
    static final int WORST_DRIFT = 4_500;

    private static final long MILLION = 1_000_000;

    private final World world;
    private final int drift;
    private final long nanoStart;
    private final long wallStart;
    private long slept;
    private long asleepSince = World.NEVER;
    private long wallSteps;
    private long steps;

    Clock(World world) {
        this.world = world;
        this.drift = world.dice.of(-WORST_DRIFT, 0, WORST_DRIFT, world.dice.below(2 * WORST_DRIFT) - WORST_DRIFT);
        // Near the end of its range half the time: deadlines are compared by difference, never by order.
        this.nanoStart =
                world.dice.percent(50) ? Long.MAX_VALUE - world.dice.millis(0, 3_000) : world.dice.millis(0, 3_000);
        this.wallStart = 1_700_000_000_000L + world.dice.between(-60_000, 60_000);
    }

    int drift() {
        return drift;
    }

    long nanoTime() {
        long awake = Math.min(world.now(), asleepSince) - slept;
        return nanoStart + drifted(awake) + steps;
    }

    long wallMillis() {
        return wallStart + (drifted(world.now()) + wallSteps + steps) / MILLION;
    }

    /** What a span of this clock is in true time, rounded up. */
    long trueSpan(long nanos) {
        return Math.floorDiv(nanos, MILLION + drift) * MILLION
                + Math.floorMod(nanos, MILLION + drift) * MILLION / (MILLION + drift)
                + 1;
    }

    void stepWall(long nanos) {
        wallSteps += nanos;
    }

    /** Both at once, as those of a server whose leases are kept by its wall clock. */
    void step(long nanos) {
        steps += nanos;
    }

    void fallAsleep() {
        asleepSince = world.now();
    }

    void wakeUp() {
        slept += world.now() - asleepSince;
        asleepSince = World.NEVER;
    }

    boolean isAsleep() {
        return asleepSince != World.NEVER;
    }

    /** These clocks, with timers that belong to an owner. */
    TimeSource as(World.Owner owner) {
        return new TimeSource() {
            @Override
            public long nanoTime() {
                return Clock.this.nanoTime();
            }

            @Override
            public long wallMillis() {
                return Clock.this.wallMillis();
            }

            @Override
            public Scheduled schedule(Runnable task, Duration delay) {
                Timer timer = new Timer(nanoTime() + Math.max(0, delay.toNanos()), owner, task);
                timer.arm();
                return () -> timer.off = true;
            }
        };
    }

    private long drifted(long span) {
        return span + span / MILLION * drift + span % MILLION * drift / MILLION;
    }

    private final class Timer implements Runnable {
        private final long due;
        private final World.Owner owner;
        private final Runnable task;
        private boolean off;

        Timer(long due, World.Owner owner, Runnable task) {
            this.due = due;
            this.owner = owner;
            this.task = task;
        }

        void arm() {
            world.after(trueSpan(Math.max(0, due - nanoTime())), owner, this);
        }

        @Override
        public void run() {
            if (off) {
                return;
            }
            if (due - nanoTime() > 0) {
                arm(); // the machine slept meanwhile
            } else {
                task.run();
            }
        }
    }
}
