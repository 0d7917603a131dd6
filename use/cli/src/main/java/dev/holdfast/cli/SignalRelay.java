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
 * <p>Before it is installed a signal ends the JVM as it always does: with 128 + n, and nothing to tidy up yet. An exit
 * that has begun so, or for another reason, is delayed until the relay is closed ({@link ExitDelay}), and counts as a
 * SIGTERM. Thread-safe.
 */
final class SignalRelay implements AutoCloseable {
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
    private @Nullable ChildCommand child;
    /** Of a SIGINT to the whole group during the start, of which this process is not notified yet: whether the child got it. */
    private Optional<Boolean> awaitedReachedChild = Optional.empty();

    private final @Nullable InterruptWitness witness;
    private final ExitDelay exit;

    private SignalRelay(Thread waiter) {
        this.waiter = waiter;
        this.witness = InterruptWitness.start().orElse(null);
        this.exit = ExitDelay.begin(() -> receive(OsSignal.ASK_TO_END));
    }

    /** Takes the signals over; until {@link #stopWaiting} they interrupt the calling thread. */
    static SignalRelay install() {
        SignalRelay relay = new SignalRelay(Thread.currentThread());
        for (String name : SIGNALS) {
            OsSignal.handle(name, relay::receive);
        }
        return relay;
    }

    /** Closed when nothing is held any more: the process can exit from now on. */
    @Override
    public void close() {
        exit.close();
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

    /**
     * Just before the child is started: what the terminal has sent until now does not reach the child by itself. The
     * witness is asked once, so that its next answer is about the time from here on.
     */
    void beforeStart() {
        Object unused = askWitness();
    }

    /**
     * From now on signals go to the child, first the one that came while it was being started.
     *
     * <p>Nothing shows whether a SIGINT to the whole group during the start came before the child was there. If the child
     * does not handle SIGINT, the signal has ended it or has not reached it: to send it is right in both cases. If the
     * child does, it is taken to have got the signal: a second one would be worse than none.
     */
    void attach(ChildCommand started) {
        InterruptWitness.Answer answer = askWitness();
        boolean hasReachedChild = answer != InterruptWitness.Answer.NOTHING
                && isReachedByTerminal(started)
                && ProcStat.handlesInterrupt(started.pid()); // read after the witness was asked
        OsSignal meanwhile;
        lock.lock();
        try {
            child = started;
            meanwhile = early;
            boolean isInterrupt = meanwhile != null && meanwhile.name().equals(OsSignal.INT);
            if (answer == InterruptWitness.Answer.INTERRUPT
                    || answer == InterruptWitness.Answer.UNKNOWN && isInterrupt) {
                awaitedReachedChild = Optional.of(hasReachedChild);
            }
        } finally {
            lock.unlock();
        }
        if (meanwhile != null) {
            pass(meanwhile, started);
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

    /** The child has ended: a signal interrupts the calling thread again, until {@link #stopWaiting}. */
    void waitAgain() {
        lock.lock();
        try {
            child = null;
            early = null;
            waiting = true;
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
        Optional<Boolean> known;
        lock.lock();
        try {
            known = awaitedReachedChild;
            awaitedReachedChild = Optional.empty();
        } finally {
            lock.unlock();
        }
        return known.orElseGet(() -> isReachedByTerminal(target) && askWitness() != InterruptWitness.Answer.NOTHING);
    }

    private static boolean isReachedByTerminal(ChildCommand target) {
        return ProcStat.isInForeground() && ProcStat.isInOurGroup(target.pid());
    }

    /** Without a witness nothing is known. */
    private InterruptWitness.Answer askWitness() {
        return witness == null ? InterruptWitness.Answer.UNKNOWN : witness.ask();
    }

    private static void send(OsSignal signal, ChildCommand target) {
        if (!target.send(signal)) {
            System.err.println("holdfast: SIG" + signal.name() + " could not be sent to the command (pid "
                    + target.pid() + "): it runs as another user; signal it as that user");
        }
    }
}
