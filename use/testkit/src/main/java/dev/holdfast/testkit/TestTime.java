package dev.holdfast.testkit;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The time of one test: of the store and of all its clients. It stands still, or runs with the machine's clock, and is
 * moved ahead by hand.
 *
 * <p>What falls due while time is moved runs on the thread that moves it, each task at its time. What is due otherwise,
 * a task without a delay or one reached by a clock that runs, is run by a timer thread. No two tasks run at once.
 * Thread-safe.
 */
final class TestTime implements TimeSource, AutoCloseable {
    private final Instant start;
    private final boolean flows;
    private final long origin = System.nanoTime();

    private final ReentrantLock mutex = new ReentrantLock();
    private final Condition changed = mutex.newCondition();
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private @Nullable Thread timer;
    private long movedNanos;
    private long lastOrder;
    private long moves;
    private boolean closed;

    /** For the thread that runs tasks, so that they run one after another. */
    private final ReentrantLock running = new ReentrantLock();

    private record Task(Runnable action, long at, long order) implements Comparable<Task> {
        @Override
        public int compareTo(Task other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /**
     * Time that begins at a date.
     *
     * @param flows whether it runs with the machine's clock besides being moved
     */
    TestTime(Instant start, boolean flows) {
        this.start = start;
        this.flows = flows;
    }

    boolean flows() {
        return flows;
    }

    @Override
    public long nanoTime() {
        mutex.lock();
        try {
            return now();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public long wallMillis() {
        return start.toEpochMilli() + TimeUnit.NANOSECONDS.toMillis(nanoTime());
    }

    @Override
    public Scheduled schedule(Runnable action, Duration delay) {
        mutex.lock();
        try {
            long now = now();
            boolean never = delay.compareTo(Duration.ofNanos(Long.MAX_VALUE - now)) >= 0;
            Task task = new Task(action, never ? Long.MAX_VALUE : now + Math.max(0, delay.toNanos()), lastOrder++);
            tasks.add(task);
            startTimer();
            changed.signalAll();
            return () -> remove(task);
        } finally {
            mutex.unlock();
        }
    }

    /** Moves time ahead, and runs what falls due on the way. With zero it runs what is due now. */
    void advance(Duration by) {
        whileNothingRuns(() -> {
            long end = Math.addExact(nanoTime(), by.toNanos());
            for (Task due = moveToNext(end); due != null; due = moveToNext(end)) {
                due.action.run();
            }
        });
    }

    /** Does something while no task runs. */
    void whileNothingRuns(Runnable step) {
        running.lock();
        try {
            step.run();
        } finally {
            running.unlock();
        }
    }

    /** How often time was moved by hand. */
    long moves() {
        mutex.lock();
        try {
            return moves;
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void close() {
        mutex.lock();
        try {
            closed = true;
            tasks.clear();
            changed.signalAll();
        } finally {
            mutex.unlock();
        }
    }

    private long now() {
        return movedNanos + (flows ? System.nanoTime() - origin : 0);
    }

    /** The next task due by then, with time moved to it; null if there is none, with time moved to the end. */
    private @Nullable Task moveToNext(long end) {
        mutex.lock();
        try {
            Task next = tasks.peek();
            Task due = next != null && next.at <= end ? tasks.poll() : null;
            long to = due == null ? end : due.at;
            long by = to - now();
            if (by > 0) {
                movedNanos += by;
                moves++;
            }
            return due;
        } finally {
            mutex.unlock();
        }
    }

    private void remove(Task task) {
        mutex.lock();
        try {
            tasks.remove(task);
        } finally {
            mutex.unlock();
        }
    }

    private void startTimer() {
        if (timer == null && !closed) {
            Thread started = new Thread(this::runWhatIsDue, "holdfast-test-timer");
            started.setDaemon(true);
            timer = started;
            started.start();
        }
    }

    private void runWhatIsDue() {
        while (awaitDue()) {
            whileNothingRuns(() -> {
                for (Task due = pollDue(); due != null; due = pollDue()) {
                    due.action.run();
                }
            });
        }
    }

    private @Nullable Task pollDue() {
        mutex.lock();
        try {
            Task next = tasks.peek();
            return next != null && next.at <= now() ? tasks.poll() : null;
        } finally {
            mutex.unlock();
        }
    }

    /** Waits until a task is due; false once time has ended. */
    private boolean awaitDue() {
        mutex.lock();
        try {
            while (!closed) {
                Task next = tasks.peek();
                long left = next == null ? Long.MAX_VALUE : next.at - now();
                if (left <= 0) {
                    return true;
                }
                if (flows && next != null) {
                    changed.awaitNanos(left);
                } else {
                    changed.awaitUninterruptibly();
                }
            }
            return false;
        } catch (InterruptedException nobodyShould) {
            return false;
        } finally {
            mutex.unlock();
        }
    }
}
