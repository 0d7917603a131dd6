package dev.holdfast;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a candidacy's listener in a term: {@code onElected} while it lasts, {@code onRevoked} after it, both on
 * the candidacy's thread. An exception of a listener is logged, and a term whose {@code onElected} threw has failed.
 * The thread is interrupted only in {@code onElected}: a later interrupt is not meant for the work that follows.
 * Thread-safe.
 */
final class TermWork {
    private final LeaderListener listener;
    private final boolean interrupts;
    private final Consumer<Supplier<String>> warn;
    private final Pause afterFailures = new Pause();
    private final ReentrantLock mutex = new ReentrantLock();
    private @Nullable Thread worker; // runs onElected; guarded by the mutex

    /**
     * The work of one candidacy.
     *
     * @param interrupts whether the end of a term interrupts {@code onElected}
     * @param warn logs what the listener threw
     */
    TermWork(LeaderListener listener, boolean interrupts, Consumer<Supplier<String>> warn) {
        this.listener = listener;
        this.interrupts = interrupts;
        this.warn = warn;
    }

    /** Runs {@code onElected}, unless the term ended before it was reported. */
    void elected(Term begun) {
        if (!start(begun)) {
            return;
        }
        try {
            listener.onElected(begun);
            afterFailures.reset();
        } catch (Throwable failed) {
            if (begun.lastedLongerThan(Pause.LONGEST)) {
                afterFailures.reset();
            }
            if (!begun.hasEnded()) { // else it threw because its term was over
                begun.failed = true;
                warn.accept(() -> "its leader failed, and the term ends: " + withPlace(failed));
            }
        } finally {
            stop();
        }
    }

    private boolean start(Term begun) {
        mutex.lock();
        try {
            if (begun.hasEnded()) {
                return false;
            }
            begun.reported = true;
            worker = Thread.currentThread();
            return true;
        } finally {
            mutex.unlock();
        }
    }

    private void stop() {
        mutex.lock();
        try {
            worker = null;
            Thread.interrupted(); // meant for the work that has just returned
        } finally {
            mutex.unlock();
        }
    }

    /** Interrupts {@code onElected} where that was asked for; not where it ends its term itself. */
    void interrupt() {
        mutex.lock();
        try {
            if (interrupts && worker != null && !worker.equals(Thread.currentThread())) {
                worker.interrupt();
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Runs {@code onRevoked}, if the term was reported to the listener at all. */
    void revoked(Term over) {
        if (over.reported) {
            try {
                listener.onRevoked(over);
            } catch (Throwable failed) {
                warn.accept(() -> "its listener failed at the end of a term: " + withPlace(failed));
            }
        }
        Thread.interrupted(); // meant for what has returned
    }

    /** How long a candidate stays out of line after a term that failed. */
    Duration pauseAfterFailure() {
        return afterFailures.afterFailure();
    }

    private static String withPlace(Throwable failed) {
        return FailureText.of(failed)
                + Arrays.stream(failed.getStackTrace())
                        .findFirst()
                        .map(place -> ", at " + place)
                        .orElse("");
    }
}
