package dev.holdfast.flashsale.guard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What goes wrong between reading and writing. A fault is armed; the next order that has read the stock meets it, so it
 * never depends on the moment of a click. The signals are real: the kernel stops or kills the whole process.
 */
public final class Faults {
    /** A fault. */
    public enum Fault {
        /** The process is stopped for longer than its lease, and then continued. */
        PAUSE,
        /** The process is killed. */
        KILL,
        /** The program that has started the servers cuts all of them off from the store of the locks. */
        CUT
    }

    private static final long CUT_TAKES = 200; // milliseconds, until the store is away for certain

    private final double pauseSeconds;
    private final AtomicReference<@Nullable Fault> armed = new AtomicReference<>();
    private final AtomicInteger between = new AtomicInteger();

    /** With the length of a pause. */
    public Faults(double pauseSeconds) {
        this.pauseSeconds = pauseSeconds;
    }

    /** Arms a fault for the next order. */
    public void arm(Fault fault) {
        armed.set(fault);
    }

    /** Disarms it. */
    public void disarm() {
        armed.set(null);
    }

    /** The number of orders that have read and have not written. */
    public int between() {
        return between.get();
    }

    /** Called between reading and writing: lets time pass, and then the armed fault strike. */
    void strike(int gapMillis) {
        between.incrementAndGet();
        try {
            Thread.sleep(gapMillis);
            Fault fault = armed.getAndSet(null);
            if (fault == Fault.CUT) {
                System.out.println("cut");
                Thread.sleep(CUT_TAKES);
            } else if (fault != null) {
                System.out.println(fault == Fault.PAUSE ? "paused" : "killed");
                // A shell's $PPID is this process. The shell is not stopped, and wakes it up again.
                signal(
                        fault == Fault.PAUSE
                                ? "kill -STOP $PPID; sleep " + pauseSeconds + "; kill -CONT $PPID"
                                : "kill -KILL $PPID");
                System.out.println("continued");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted between reading and writing", e);
        } finally {
            between.decrementAndGet();
        }
    }

    private static void signal(String commands) throws InterruptedException {
        try {
            new ProcessBuilder("sh", "-c", commands).inheritIO().start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run sh, which sends the signals", e);
        }
    }
}
