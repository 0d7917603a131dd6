package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of one session, in the order in which it is served.
 *
 * <pre>
 *   first     renewals, releases: what grants need
 *   in turn   claims, their withdrawals, status, lists: a withdrawal stays behind its claim
 * </pre>
 *
 * <p>Thread-safe.
 */
final class SessionRequests {
    private static final int USUAL = 16;

    private final AtomicLong turns = new AtomicLong();
    private final PriorityBlockingQueue<Request<?>> queue = new PriorityBlockingQueue<>(
            USUAL,
            Comparator.<Request<?>>comparingInt(each -> each.first() ? 0 : 1).thenComparingLong(Request::turn));

    /** What is asked of the session. */
    @FunctionalInterface
    interface Work<T> {
        T on(SessionRows locks) throws SQLException;
    }

    /**
     * One request, until it is answered or has failed.
     *
     * @param what for messages
     * @param name the lock it is about; empty if there is none
     * @param first whether it is served before all that are not
     * @param turn its number, in the order in which requests were made
     * @param work what is done on the session
     * @param answer what becomes of it; a request whose answer has failed is not carried out any more
     * @param withoutSession its answer where no session is open by then; null if one is to be opened
     */
    record Request<T>(
            String what,
            String name,
            boolean first,
            long turn,
            Work<T> work,
            CompletableFuture<T> answer,
            @Nullable T withoutSession) {
        /** Whether nobody waits for it any more. */
        boolean isOver() {
            return answer.isDone();
        }
    }

    <T> Request<T> first(String what, String name, Work<T> work, @Nullable T withoutSession) {
        return new Request<>(
                what, name, true, turns.getAndIncrement(), work, new CompletableFuture<>(), withoutSession);
    }

    <T> Request<T> inTurn(String what, String name, Work<T> work, @Nullable T withoutSession) {
        return new Request<>(
                what, name, false, turns.getAndIncrement(), work, new CompletableFuture<>(), withoutSession);
    }

    void add(Request<?> request) {
        queue.add(request);
    }

    /** Only wakes the thread. */
    void addEnd() {
        Request<Boolean> end = first("close", "", locks -> true, null);
        end.answer().complete(true);
        queue.add(end);
    }

    @Nullable
    Request<?> poll(long time, TimeUnit unit) throws InterruptedException {
        return queue.poll(time, unit);
    }

    Request<?> take() throws InterruptedException {
        return queue.take();
    }

    void failAll(HoldfastException why) {
        for (Request<?> left = queue.poll(); left != null; left = queue.poll()) {
            left.answer().completeExceptionally(why);
        }
    }
}
