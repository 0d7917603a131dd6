package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** What a read-write lock or a semaphore is to protect: it counts who is inside, and tells of those who must not be. */
final class SharedSection {
    /** Long enough that others come to run. */
    private static final long LINGER_NANOS = 200_000;
    /** The first stay until all others have come to run as well, on a machine that is busy with other things. */
    private static final long LONG_LINGER_NANOS = 30_000_000;

    private static final int FIRST = 12;

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final AtomicInteger permits = new AtomicInteger();
    private final AtomicLong lastWriter = new AtomicLong();
    private final AtomicLong last = new AtomicLong();
    private final AtomicInteger entered = new AtomicInteger();
    private final AtomicInteger passed = new AtomicInteger();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    /** Goes through it once, beside readers. */
    void read(Hold hold) {
        readers.incrementAndGet();
        if (writers.get() != 0) {
            violations.add(hold + " found a writer inside");
        }
        if (hold.token() <= lastWriter.get()) {
            violations.add(hold + " came after a writer with the token " + lastWriter.get());
        }
        last.accumulateAndGet(hold.token(), Math::max);
        linger();
        readers.decrementAndGet();
        passed.incrementAndGet();
    }

    /** Goes through it once, alone. */
    void write(Hold hold) {
        if (writers.incrementAndGet() != 1 || readers.get() != 0) {
            violations.add(hold + " found " + readers + " readers and " + (writers.get() - 1) + " writers inside");
        }
        if (hold.token() <= last.get()) {
            violations.add(hold + " came after the token " + last.get());
        }
        last.set(hold.token());
        lastWriter.set(hold.token());
        linger();
        writers.decrementAndGet();
        passed.incrementAndGet();
    }

    /** Goes through it once with some permits. */
    void share(Hold hold, int wanted, int of) {
        int inside = permits.addAndGet(wanted);
        if (inside > of) {
            violations.add(hold + " made it " + inside + " permits of " + of);
        }
        linger();
        permits.addAndGet(-wanted);
        passed.incrementAndGet();
    }

    void assertPassed(int times) {
        assertThat(violations).isEmpty();
        assertThat(passed.get()).isEqualTo(times);
    }

    private void linger() {
        long nanos = entered.incrementAndGet() <= FIRST ? LONG_LINGER_NANOS : LINGER_NANOS;
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left); // which returns at once where a waker came too late for the last wait
        }
    }
}
