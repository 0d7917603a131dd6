package dev.holdfast.challenge;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.challenge.history.LaneHistory.Stall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes a lock of its own in the store under attack, again and again. When that takes long, the store or the machine stood
 * still, or this process, whose proxies are on the way to the store; a hold that was lost then says nothing about its lock.
 * Thread-safe.
 */
final class Pulse implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final Duration LONG = BETWEEN.plusMillis(200);

    private final LockClient client;
    private final Thread thread;
    private final List<Stall> stalls = new ArrayList<>();
    private volatile long begun;
    private volatile boolean closed;

    private Pulse(LockClient client) {
        this.client = client;
        this.begun = System.nanoTime();
        this.thread = new Thread(this::run, "pulse");
        thread.setDaemon(true);
    }

    static Pulse of(String url) {
        Pulse pulse = new Pulse(LockClient.connect(url));
        pulse.thread.start();
        return pulse;
    }

    /** When it took long; the last may still go on. */
    synchronized List<Stall> stalls() {
        List<Stall> all = new ArrayList<>(stalls);
        add(all, begun, System.nanoTime());
        return all;
    }

    private void run() {
        while (!closed) {
            long before = System.nanoTime();
            begun = before;
            LockSupport.parkNanos(
                    BETWEEN.toNanos()); // measured as well: this process is mostly here when it is stopped
            try {
                Optional<Hold> held = client.lock("pulse").tryAcquire();
                held.ifPresent(Hold::close);
            } catch (RuntimeException | Error attacked) {
                // The server was killed, for one; a lock that is lost then is excused by the fault.
            }
            synchronized (this) {
                add(stalls, before, System.nanoTime());
            }
        }
    }

    private static void add(List<Stall> stalls, long began, long ended) {
        if (ended - began > LONG.toNanos()) {
            stalls.add(new Stall(began, ended));
        }
    }

    @Override
    public void close() {
        closed = true;
        client.close();
    }
}
