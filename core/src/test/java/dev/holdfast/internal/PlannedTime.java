package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Time that is set, runs what is due when told to, and tells what is planned. */
final class PlannedTime implements TimeSource {
    static final long NEVER = Long.MAX_VALUE;

    private record Plan(Runnable task, long at) {}

    private final List<Plan> plans = new CopyOnWriteArrayList<>();
    private volatile long nanos;

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public long wallMillis() {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        Plan plan = new Plan(task, nanos + delay.toNanos());
        plans.add(plan);
        return () -> plans.remove(plan);
    }

    void set(long now) {
        nanos = now;
    }

    /** Runs what was planned for now or earlier; what that plans comes with the next call. */
    void runDue() {
        for (Plan plan : List.copyOf(plans)) {
            if (plan.at <= nanos && plans.remove(plan)) {
                plan.task.run();
            }
        }
    }

    /** The time of the earliest plan, or {@link #NEVER}. */
    long firstPlanned() {
        return plans.stream().mapToLong(Plan::at).min().orElse(NEVER);
    }
}
