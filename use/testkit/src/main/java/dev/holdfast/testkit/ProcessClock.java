package dev.holdfast.testkit;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The time of one client, which can be stopped as a process is stopped by a long garbage collection: its clock goes on,
 * and nothing of it runs until it goes on too. Thread-safe.
 */
final class ProcessClock implements TimeSource {
    private final TestTime time;
    private final ReentrantLock mutex = new ReentrantLock();
    private final Queue<Runnable> missed = new ArrayDeque<>();
    private boolean stopped;

    ProcessClock(TestTime time) {
        this.time = time;
    }

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public long wallMillis() {
        return time.wallMillis();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        AtomicBoolean calledOff = new AtomicBoolean();
        Scheduled scheduled = time.schedule(
                () -> whenRunning(() -> {
                    if (!calledOff.get()) {
                        task.run();
                    }
                }),
                delay);
        return () -> {
            calledOff.set(true);
            scheduled.cancel();
        };
    }

    void stop() {
        mutex.lock();
        try {
            stopped = true;
        } finally {
            mutex.unlock();
        }
    }

    /** Lets the process go on; what it has missed runs now, in its order, at the time that it is now. */
    void goOn() {
        for (Runnable next = nextMissed(); next != null; next = nextMissed()) {
            next.run();
        }
    }

    /** Runs something now or, while the process is stopped, when it goes on. */
    void whenRunning(Runnable task) {
        mutex.lock();
        try {
            if (stopped) {
                missed.add(task);
                return;
            }
        } finally {
            mutex.unlock();
        }
        task.run();
    }

    private @Nullable Runnable nextMissed() {
        mutex.lock();
        try {
            Runnable next = missed.poll();
            if (next == null) {
                stopped = false;
            }
            return next;
        } finally {
            mutex.unlock();
        }
    }
}
