package dev.holdfast.testbed;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One direction of a {@link TcpProxy}: what happens to bytes on their way to the server, or to the client. It applies
 * to all connections, those that are open and those to come.
 *
 * <pre>{@code
 * proxy.toClient().hold();                              // replies pile up in the proxy
 * proxy.toClient().awaitBite(Duration.ofSeconds(5));    // one really did
 * proxy.toClient().resume();
 * }</pre>
 *
 * <p>When a method returns, it has taken effect on every byte that the proxy had not passed on by then. Thread-safe. All
 * that change something throw {@link IllegalStateException} once the proxy is closed.
 */
public final class Direction {
    /** What happens to the bytes read. */
    enum Mode {
        PASS,
        HOLD,
        SWALLOW
    }

    private final String name;
    private final ProxyLoop loop;
    private final Runnable changed;

    // Written by the loop's thread only.
    private volatile Mode mode = Mode.PASS;
    private volatile long delayNanos;
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong passed = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong bitten = new AtomicLong();

    Direction(String name, ProxyLoop loop, Runnable changed) {
        this.name = name;
        this.loop = loop;
        this.changed = changed;
    }

    /**
     * Passes each byte that long after it came, in order; bytes follow each other as closely as they came. This is
     * latency: it does not limit how many bytes are under way. What is under way keeps the delay it came with. Zero ends
     * it. It stays in force under {@link #hold} and {@link #resume}.
     */
    public void delay(Duration delay) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("a delay cannot be negative: " + delay);
        }
        loop.run(() -> {
            delayNanos = delay.toNanos();
            bitten.set(0);
        });
    }

    /**
     * Keeps all bytes, and the end of connections, in the proxy until {@link #resume}; beyond 16 MiB on one connection
     * the sender has to wait. What is held when the connection is cut, or the proxy closed, is lost for good.
     */
    public void hold() {
        change(Mode.HOLD);
    }

    /**
     * Throws all bytes away, those under way and those to come, and the end of connections too, but keeps connections
     * open: neither side notices more than silence.
     */
    public void swallow() {
        change(Mode.SWALLOW);
    }

    /**
     * Passes bytes again, first those held, in order. Connections that lost bytes to {@link #swallow} are cut: TCP never
     * loses bytes out of the middle of a connection.
     */
    public void resume() {
        change(Mode.PASS);
    }

    /**
     * Awaits that the fault set last did something: that {@link #hold} kept bytes, {@link #swallow} threw bytes away, or
     * {@link #delay} passed bytes late. A fault that did not bite proves nothing.
     *
     * @throws AssertionError when it did not
     */
    public void awaitBite(Duration patience) {
        if (!Await.until(patience, () -> bitten.get() > 0)) {
            throw new AssertionError("the fault " + mode + ", delay " + Duration.ofNanos(delayNanos)
                    + ", on the way to " + name + " did not bite within " + patience + ": " + traffic());
        }
    }

    /** What became of the bytes so far. */
    public Traffic traffic() {
        // In this order, since a byte is counted as read before it is counted as passed or dropped: what moves on
        // between two of these looks is at worst shown as kept.
        long gone = dropped.get();
        long arrived = passed.get();
        long came = read.get();
        return new Traffic(came, arrived, gone, came - arrived - gone);
    }

    Mode mode() {
        return mode;
    }

    long delayNanos() {
        return delayNanos;
    }

    void countRead(int bytes) {
        read.addAndGet(bytes);
        if (mode == Mode.HOLD) {
            bitten.addAndGet(bytes);
        }
    }

    void countPassed(int bytes, boolean late) {
        passed.addAndGet(bytes);
        if (late) {
            bitten.addAndGet(bytes);
        }
    }

    void countDropped(int bytes) {
        dropped.addAndGet(bytes);
        if (mode == Mode.SWALLOW) {
            bitten.addAndGet(bytes);
        }
    }

    private void change(Mode next) {
        loop.run(() -> {
            mode = next;
            bitten.set(0);
            changed.run();
        });
    }
}
