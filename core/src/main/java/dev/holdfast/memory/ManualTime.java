package dev.holdfast.memory;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Time that moves only when a thread moves it; tasks that are due run on that thread, in order.
 *
 * <pre>{@code
 * ManualTime time = new ManualTime();
 * MemoryStore memory = new MemoryStore(time);
 * try (LockClient client = LockClient.builder(memory).time(time).build()) {
 *     Hold hold = client.lock("job", HoldOptions.defaults().autoRenew(false)).acquire();
 *     time.advance(Duration.ofSeconds(30));
 *     assert !hold.isValid();
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class ManualTime implements TimeSource {
    private static final long START_WALL_MILLIS = 1_700_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final ReentrantLock mutex = new ReentrantLock();
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private long nanos;
    private long wallNanos;
    private long sequence;

    private static final class Task implements Comparable<Task> {
        final Runnable action;
        final long at;
        final long order;

        Task(Runnable action, long at, long order) {
            this.action = action;
            this.at = at;
            this.order = order;
        }

        @Override
        public int compareTo(Task other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** Time at zero. */
    public ManualTime() {}

    @Override
    public long nanoTime() {
        return locked(() -> nanos);
    }

    @Override
    public long wallMillis() {
        return START_WALL_MILLIS + locked(() -> wallNanos) / NANOS_PER_MILLI;
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        mutex.lock();
        try {
            long wait = delay.compareTo(Duration.ofNanos(Long.MAX_VALUE - nanos)) >= 0
                    ? Long.MAX_VALUE - nanos
                    : Math.max(0, delay.toNanos());
            Task added = new Task(task, nanos + wait, sequence++);
            tasks.add(added);
            return () -> remove(added);
        } finally {
            mutex.unlock();
        }
    }

    /** Moves both clocks on, and runs what falls due on the way, each at its time. */
    public void advance(Duration by) {
        long end = nanoTime() + by.toNanos();
        for (Task due = nextBy(end); due != null; due = nextBy(end)) {
            due.action.run();
        }
    }

    /** The machine sleeps: the wall clock moves on and {@link #nanoTime()} does not. */
    public void sleepMachine(Duration by) {
        mutex.lock();
        try {
            wallNanos += by.toNanos();
        } finally {
            mutex.unlock();
        }
    }

    private @Nullable Task nextBy(long end) {
        mutex.lock();
        try {
            Task next = tasks.peek();
            boolean due = next != null && next.at <= end;
            long to = due && next != null ? Math.max(nanos, next.at) : Math.max(nanos, end);
            wallNanos += to - nanos;
            nanos = to;
            return due ? tasks.poll() : null;
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

    private long locked(java.util.function.LongSupplier read) {
        mutex.lock();
        try {
            return read.getAsLong();
        } finally {
            mutex.unlock();
        }
    }
}
