package dev.holdfast.internal;

import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Two threads that do something at the same moment, again and again, each after a short pause of its own, so that over
 * many meetings each runs into the other at every step. For races that Lincheck sees no place in, such as between two
 * calls of a concurrent map; the idea is jcstress's.
 */
final class Meeting implements AutoCloseable {
    private static final int LONGEST_PAUSE = 400;

    private final Thread partner = new Thread(this::follow, "partner");
    private volatile @Nullable Runnable work;
    private volatile boolean ended;

    Meeting() {
        partner.setDaemon(true);
        partner.start();
    }

    /** Runs both, one on this thread and the other on the partner's; over when both are. */
    void of(Runnable here, Runnable there) {
        work = there;
        pause();
        here.run();
        while (work != null) {
            rest();
        }
    }

    private void follow() {
        while (!ended) {
            Runnable next = work;
            if (next == null) {
                rest();
                continue;
            }
            try {
                pause();
                next.run();
            } finally {
                work = null;
            }
        }
    }

    private static void rest() {
        Thread.onSpinWait();
        Thread.yield(); // on a single core the other one has to run too
    }

    private static void pause() {
        for (int left = ThreadLocalRandom.current().nextInt(LONGEST_PAUSE); left > 0; left--) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        ended = true;
    }
}
