package tests;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import java.util.concurrent.atomic.AtomicReference;

/** A user's class, outside our packages, that acquires a lock twice on one thread. */
public final class SelfWaiter {
    /** Where it acquires first. */
    public static final int FIRST_LINE = 23;
    /** Where it acquires again. */
    public static final int SECOND_LINE = 25;

    private final DistributedLock lock;

    public SelfWaiter(DistributedLock lock) {
        this.lock = lock;
    }

    @SuppressWarnings("try")
    public void acquireTwice(AtomicReference<Hold> first) {
        try {
            first.set(lock.acquire());
            // The lock is held, and not re-entrant.
            try (Hold second = lock.acquire()) {
                second.name();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
