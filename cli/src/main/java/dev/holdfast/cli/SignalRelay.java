package dev.holdfast.cli;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Where the signals go that are sent to us.
 *
 * <pre>
 *   waiting ──stopWaiting──► deciding ──attach──► running
 *   ends the wait             kept, and passed     passed to the child
 *                             on when attached
 * </pre>
 *
 * <p>Before it is installed a signal ends the JVM as it always does: with 128 + n, and nothing to tidy up yet.
 * Thread-safe.
 */
final class SignalRelay {
    /** Not USR2, which the JVM needs for itself, and not QUIT, by which it prints what its threads do. */
    private static final String[] SIGNALS = {"HUP", "INT", "TERM", "USR1"};

    private final ReentrantLock lock = new ReentrantLock();
    private final Thread waiter;
    private boolean waiting = true;
    private @Nullable OsSignal early;
    private @Nullable ChildCommand child;

    private SignalRelay(Thread waiter) {
        this.waiter = waiter;
    }

    /** Takes the signals over; until {@link #stopWaiting} they interrupt the calling thread. */
    static SignalRelay install() {
        SignalRelay relay = new SignalRelay(Thread.currentThread());
        for (String name : SIGNALS) {
            OsSignal.handle(name, relay::receive);
        }
        return relay;
    }

    private void receive(OsSignal signal) {
        ChildCommand target;
        lock.lock();
        try {
            target = child;
            if (target == null && early == null) {
                early = signal;
            }
            if (waiting) {
                waiter.interrupt();
            }
        } finally {
            lock.unlock();
        }
        if (target != null) {
            pass(signal, target);
        }
    }

    /** From now on nobody is interrupted; tells the signal that came meanwhile. */
    Optional<OsSignal> stopWaiting() {
        lock.lock();
        try {
            waiting = false;
            Thread.interrupted(); // the interrupt has done its work: the signal tells the same
            return Optional.ofNullable(early);
        } finally {
            lock.unlock();
        }
    }

    /** From now on signals go to the child, first the one that came while it was being started. */
    void attach(ChildCommand started) {
        OsSignal meanwhile;
        lock.lock();
        try {
            child = started;
            meanwhile = early;
        } finally {
            lock.unlock();
        }
        if (meanwhile != null) {
            started.send(meanwhile);
        }
    }

    /** A terminal sends Ctrl-C to its whole foreground: a second SIGINT would look to the child like a second one. */
    private static void pass(OsSignal signal, ChildCommand target) {
        if (!signal.name().equals(OsSignal.INT) || !ProcStat.isInForeground()) {
            target.send(signal);
        }
    }
}
