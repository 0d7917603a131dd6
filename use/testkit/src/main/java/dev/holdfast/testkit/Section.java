package dev.holdfast.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A piece of work that at most one thread or process may be in at a time, such as the transaction that a lock is to
 * protect: it notes who is in it, and {@link #assertNeverOverlapped} fails if two were in at once.
 *
 * <pre>{@code
 * Section payment = locks.section("payment of order 42");
 * try (Section.Inside inside = payment.enter()) {      // in the repository that the test gives to the code under test
 *     balance = balance - amount;
 * }
 * payment.assertNeverOverlapped();
 * }</pre>
 *
 * <p>It changes nothing about the work: a second thread enters as well. Thread-safe.
 */
public final class Section {
    private final String name;
    private final AtomicReference<@Nullable Inside> last = new AtomicReference<>();
    private final List<String> overlaps = new CopyOnWriteArrayList<>();

    Section(String name) {
        this.name = name;
    }

    /** Enters, until the result is closed. */
    public Inside enter() {
        Inside entered = new Inside(Thread.currentThread().getName());
        Inside before = last.getAndSet(entered);
        if (before != null && !before.left) {
            overlaps.add(entered.who + " entered while " + before.who + " was inside");
        }
        return entered;
    }

    /** Fails if anybody ever entered while somebody was inside, and if nobody ever entered. */
    public void assertNeverOverlapped() {
        if (last.get() == null) {
            throw new AssertionError("nobody entered '" + name
                    + "': call enter() in the work that must not overlap, and see that the test comes to it");
        }
        if (!overlaps.isEmpty()) {
            throw new AssertionError("'" + name + "' overlapped " + overlaps.size() + " time(s): "
                    + String.join("; ", overlaps)
                    + ". The work must begin after the lock is acquired and end before it is released");
        }
    }

    /** A stay in a section. */
    public static final class Inside implements AutoCloseable {
        private final String who;
        private volatile boolean left;

        private Inside(String who) {
            this.who = who;
        }

        /** Leaves. */
        @Override
        public void close() {
            left = true;
        }
    }
}
