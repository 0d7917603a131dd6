package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;

/**
 * What was written under a lock, and by which token: the memory of the resource that a test gives to the code under test.
 *
 * <pre>{@code
 * Writes writes = locks.writes("order:42");
 * repository.onSave(token -> writes.note(token));      // wherever the resource has accepted a write
 * writes.assertOnlyByHolders();
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Writes {
    private final String name;
    private final LongPredicate isHeldBy;
    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Write> writes = new ArrayList<>();

    /** A write, and whether its token was the holder's at that moment. */
    private record Write(long token, boolean byHolder) {}

    Writes(String name, LongPredicate isHeldBy) {
        this.name = name;
        this.isHeldBy = isHeldBy;
    }

    /** Notes that the resource has accepted a write. */
    public void note(long token) {
        boolean byHolder = isHeldBy.test(token);
        mutex.lock();
        try {
            writes.add(new Write(token, byHolder));
        } finally {
            mutex.unlock();
        }
    }

    /** The tokens, in the order of the writes. */
    public List<Long> tokens() {
        return copy().stream().map(Write::token).toList();
    }

    /**
     * Fails if any write came under a token whose hold had ended in the store, or which never was one: the writer did not
     * hold the lock at that moment. Code that checks {@link dev.holdfast.Hold#isValid} before each write passes, unless the
     * hold is lost between the check and the write. It also fails if nothing was noted.
     */
    public void assertOnlyByHolders() {
        List<Write> all = noted();
        for (int i = 0; i < all.size(); i++) {
            if (!all.get(i).byHolder) {
                throw new AssertionError("write " + (i + 1) + " of " + all.size() + " under '" + name
                        + "' has the token "
                        + all.get(i).token + ", whose hold had ended or never was: stop working when a hold is lost,"
                        + " and pass hold.token() on");
            }
        }
    }

    /**
     * Fails if a write was accepted under a lower token than one before it: the resource does not check tokens, and a
     * holder that was stopped past its lease has overwritten what its successor wrote. It also fails if nothing was
     * noted.
     */
    public void assertTokensNeverFall() {
        long highest = Long.MIN_VALUE;
        for (Write write : noted()) {
            if (write.token < highest) {
                throw new AssertionError("under '" + name + "' a write with the token " + write.token
                        + " was accepted after one with " + highest
                        + ": have the resource refuse tokens below the highest it has seen, for example by JdbcFence or"
                        + " TokenGate");
            }
            highest = write.token;
        }
    }

    /** A test whose code never wrote has shown nothing. */
    private List<Write> noted() {
        List<Write> all = copy();
        if (all.isEmpty()) {
            throw new AssertionError("no write was noted under '" + name
                    + "': call note(token) where the resource accepts a write, and see that the test comes to it");
        }
        return all;
    }

    private List<Write> copy() {
        mutex.lock();
        try {
            return List.copyOf(writes);
        } finally {
            mutex.unlock();
        }
    }
}
