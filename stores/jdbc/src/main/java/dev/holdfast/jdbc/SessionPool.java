package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a {@link SessionStore}: the first one, which waits for nothing, and further ones, each lent to one claim
 * that waits, and kept by the grant that it becomes. Thread-safe.
 */
final class SessionPool {
    /** Each has a connection and a thread. */
    static final int MOST_WAITING = 16;

    /** The same, with the locks that were waited for, and are held now. */
    private static final int MOST_FURTHER = 64;

    private static final int MOST_IDLE = 2;

    private final SessionOpener opener;
    private final Consumer<Grant> lost;
    private final Supplier<@Nullable HoldfastException> closed;
    private final AtomicInteger further = new AtomicInteger();
    private final AtomicInteger waits = new AtomicInteger();
    private final Deque<SessionConnection> idle = new ConcurrentLinkedDeque<>();
    private final Set<SessionConnection> all = ConcurrentHashMap.newKeySet();
    private final SessionConnection first;

    /**
     * Starts the first.
     *
     * @param lost receives the grants whose session ended
     * @param closed why the store serves nobody any more; null while it does
     */
    SessionPool(SessionOpener opener, Consumer<Grant> lost, Supplier<@Nullable HoldfastException> closed) {
        this.opener = opener;
        this.lost = lost;
        this.closed = closed;
        this.first = connection("0");
    }

    private SessionConnection connection(String title) {
        SessionConnection made = new SessionConnection(opener, title, lost).start();
        all.add(made);
        return made;
    }

    SessionConnection first() {
        return first;
    }

    /** A session for one claim; null where there are enough. */
    @Nullable
    SessionConnection lend() {
        if (waits.incrementAndGet() > MOST_WAITING) {
            waits.decrementAndGet();
            return null;
        }
        SessionConnection free = idle.poll();
        if (free != null) {
            return free;
        }
        int number = further.incrementAndGet();
        if (number > MOST_FURTHER) {
            further.decrementAndGet();
            waits.decrementAndGet();
            return null;
        }
        try {
            return connection(Integer.toString(number));
        } catch (Throwable noThread) {
            further.decrementAndGet();
            waits.decrementAndGet();
            throw noThread;
        }
    }

    /** A session that was lent waits no more: it has the lock, or comes back. */
    void endOfWait() {
        waits.decrementAndGet();
    }

    /**
     * Takes a session back.
     *
     * @param spoilt whether it may still be called off, or has failed
     */
    void returnSession(SessionConnection own, boolean spoilt) {
        HoldfastException why = closed.get();
        if (spoilt || why != null || idle.size() >= MOST_IDLE) {
            further.decrementAndGet();
            all.remove(own);
            own.close(
                    why != null
                            ? why
                            : new StoreUnavailableException("the session of "
                                    + opener.errors().store() + " has ended, and its grant with it; try again"));
        } else {
            idle.add(own);
        }
    }

    /** Ends all, and with them their grants. */
    void close(HoldfastException why) {
        List<SessionConnection> ending = List.copyOf(all);
        ending.forEach(each -> each.close(why));
        ending.forEach(SessionConnection::cancelUntilEnd);
        ending.forEach(SessionConnection::awaitEnd);
    }
}
