package dev.holdfast.spi.support;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A task that many ask for and one run serves: a poll of all waiting claims, a look for requests that are late. At most one
 * run is planned at a time. If the timer cannot plan it, as when there is no thread for it, the caller hears that, and the next
 * call plans it. While the task runs and plans itself, perhaps nobody else calls any more, so the timer is asked twice.
 * Thread-safe.
 *
 * <pre>{@code
 * private final PlannedTask poll = new PlannedTask(time, this::poll);
 *
 * void claim(Claim claim) {
 *     waiting.add(claim);
 *     poll.within(POLL);
 * }
 *
 * private void poll() {
 *     if (!waiting.isEmpty()) {
 *         poll.within(POLL); // first: it goes on whatever comes of this one
 *     }
 *     waiting.forEach(this::ask);
 * }
 * }</pre>
 */
public final class PlannedTask {
    private final TimeSource time;
    private final Runnable task;
    private final AtomicBoolean planned = new AtomicBoolean();
    private volatile @Nullable Thread running;

    /**
     * A task that is not planned yet.
     *
     * @param task run by the timer; never twice at once if it plans itself last, or has ended by then
     */
    public PlannedTask(TimeSource time, Runnable task) {
        this.time = time;
        this.task = task;
    }

    /**
     * Plans a run, unless one is planned already.
     *
     * @param delay from now; zero for at once
     * @throws RuntimeException or an Error, as the timer throws when it cannot plan it
     */
    public void within(Duration delay) {
        if (planned.compareAndSet(false, true)) {
            try {
                plan(delay);
            } catch (Throwable notPlanned) {
                planned.set(false);
                throw notPlanned;
            }
        }
    }

    private void plan(Duration delay) {
        if (running == Thread.currentThread()) {
            surely(time, this::run, delay);
        } else {
            time.schedule(this::run, delay);
        }
    }

    /**
     * Runs a task once, after a delay, that nobody else would run: the timer is asked twice, should it have no thread at first.
     *
     * @throws RuntimeException or an Error, as the timer throws the second time
     */
    public static void surely(TimeSource time, Runnable task, Duration delay) {
        try {
            time.schedule(task, delay);
        } catch (RuntimeException | Error notPlanned) {
            time.schedule(task, delay);
        }
    }

    /** Whether a run is planned. */
    public boolean isPlanned() {
        return planned.get();
    }

    private void run() {
        planned.set(false);
        running = Thread.currentThread();
        try {
            task.run();
        } finally {
            running = null;
        }
    }
}
