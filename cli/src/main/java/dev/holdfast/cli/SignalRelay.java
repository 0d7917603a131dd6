package dev.holdfast.cli;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Where the signals go that are sent to us.
 *
 * <pre>
 *   waiting ──stopWaiting──► deciding ──attach──► running ──detach──► waiting for what the child left
 *   ends the wait             kept, and passed     passed to the        kept, and ends that wait
 *                             on when attached     child
 * </pre>
 *
 * <p>Before it is installed a signal ends the JVM as it always does: with 128 + n, and nothing to tidy up yet.
 * Thread-safe.
 */
final class SignalRelay {
    /**
     * All that would end this process and leave the command behind. Not QUIT, by which the JVM prints what its threads
     * do; and not those that tell of a fault of the JVM itself, after which nothing can be passed on.
     */
    private static final String[] SIGNALS = {
        "HUP", "INT", "TERM", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "POLL", "PWR", "STKFLT", "SYS", "TRAP",
        "XCPU", "ABRT"
    };

    private final ReentrantLock lock = new ReentrantLock();
    private final Thread waiter;
    private boolean waiting = true;
    private @Nullable OsSignal early;
    private long earlyAt;
    private @Nullable ChildCommand child;
    private final @Nullable InterruptWitness witness;

    private SignalRelay(Thread waiter) {
        this.waiter = waiter;
        this.witness = InterruptWitness.start().orElse(null);
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
                earlyAt = ProcStat.ticksSinceBoot();
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

    /**
     * Just before the child is started: what the terminal has sent until now does not reach the child by itself. The
     * handler of such a Ctrl-C may run after the start; the witness then has seen no other one, so that it is passed on.
     */
    void beforeStart() {
        boolean unused = witness != null && witness.sawInterrupt();
    }

    /**
     * From now on signals go to the child, first the one that came while it was being started; a Ctrl-C only if the child
     * was not there yet to get it from the terminal.
     */
    void attach(ChildCommand started) {
        OsSignal meanwhile;
        lock.lock();
        try {
            child = started;
            meanwhile = early;
        } finally {
            lock.unlock();
        }
        if (meanwhile == null) {
            return;
        }
        boolean wasThere =
                ProcStat.of(started.pid()).map(stat -> stat.started() < earlyAt).orElse(false);
        if (wasThere) {
            pass(meanwhile, started);
        } else {
            send(meanwhile, started);
        }
    }

    /** From now on a signal is kept: the child has ended, or gets none from us, and others go on. */
    void detach() {
        lock.lock();
        try {
            child = null;
            early = null;
        } finally {
            lock.unlock();
        }
    }

    /** The signal that is kept. */
    Optional<OsSignal> kept() {
        lock.lock();
        try {
            return Optional.ofNullable(early);
        } finally {
            lock.unlock();
        }
    }

    private void pass(OsSignal signal, ChildCommand target) {
        if (!signal.name().equals(OsSignal.INT) || !hasGotInterrupt(target)) {
            send(signal, target);
        }
    }

    /**
     * Whether the child got this SIGINT by itself: a terminal sends Ctrl-C to its whole foreground group, and a second
     * SIGINT would look to the child like a second Ctrl-C.
     */
    private boolean hasGotInterrupt(ChildCommand target) {
        return ProcStat.isInForeground()
                && ProcStat.isInOurGroup(target.pid())
                && (witness == null || witness.sawInterrupt());
    }

    private static void send(OsSignal signal, ChildCommand target) {
        if (!target.send(signal)) {
            System.err.println("holdfast: SIG" + signal.name() + " could not be sent to the command (pid "
                    + target.pid() + "): it runs as another user; signal it as that user");
        }
    }
}
