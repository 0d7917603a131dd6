package dev.holdfast.spi.support;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A task that many ask for and one run serves: a poll of all waiting claims, a look for requests that are late. At most one
 * run is planned at a time. A timer that cannot plan it, as when there is no thread for it, fails whoever asked, and the next
 * who asks plans it again. Thread-safe.
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

    /**
     * A task that is not planned yet.
     *
     * @param task run by the timer, and never twice at once if it plans itself last
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
                time.schedule(this::run, delay);
            } catch (Throwable notPlanned) {
                planned.set(false);
                throw notPlanned;
            }
        }
    }

    /** Whether a run is planned. */
    public boolean isPlanned() {
        return planned.get();
    }

    private void run() {
        planned.set(false);
        task.run();
    }
}
