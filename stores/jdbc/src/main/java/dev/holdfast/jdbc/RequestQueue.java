package dev.holdfast.jdbc;

import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests to one worker, in the order in which they were made.
 *
 * <pre>
 *   release x ──► claim y ──► claim x ──► renew …
 *      └───── one step ──────────┘
 * </pre>
 *
 * <p>A release that finds the next claim of the same lock behind it becomes one step with that: this is how a client whose
 * threads go on wanting a lock passes it to another client, and enters the queue again, in one statement.
 *
 * <p>Requests are added and refused on any thread; they are taken on the worker's alone.
 */
final class RequestQueue {
    private final String store;
    private final BlockingQueue<Request> arrived = new LinkedTransferQueue<>();
    /** What the worker has taken notice of. For its thread alone. An array that cannot grow would lose all that is in it. */
    private final Queue<Request> noticed = new ConcurrentLinkedQueue<>();
    /** On its way there, where it stays after an Error until the next time. */
    private @Nullable Request arriving;

    /**
     * @param store for messages
     */
    RequestQueue(String store) {
        this.store = store;
    }

    void add(Request request) {
        arrived.add(request);
    }

    /**
     * The next request, after the tasks that go before all requests.
     *
     * @param nanos how long to wait for one
     * @return null if none has come by then
     */
    @Nullable
    Request next(long nanos) throws InterruptedException {
        if (noticed.isEmpty() && arriving == null) {
            arriving = arrived.poll(nanos, TimeUnit.NANOSECONDS);
        }
        noticeArrived();
        runTasks();
        Request first = noticed.poll();
        if (first instanceof Request.Release release) {
            try {
                return withClaimBehind(release);
            } catch (Throwable e) {
                return release; // there is no memory for one step: they are two
            }
        }
        return first;
    }

    private void noticeArrived() {
        for (Request next = arriving; next != null || (next = arrived.poll()) != null; next = null) {
            arriving = next;
            noticed.add(next);
            arriving = null;
        }
    }

    private void runTasks() {
        for (Iterator<Request> each = noticed.iterator(); each.hasNext(); ) {
            if (each.next() instanceof Request.Before task) {
                each.remove();
                task.runTask(store);
            }
        }
        noticeArrived();
    }

    /** With the next request for the same name, if that is a claim: it leaves the line once nothing else can fail. */
    private Request withClaimBehind(Request.Release release) {
        for (Iterator<Request> each = noticed.iterator(); each.hasNext(); ) {
            Request behind = each.next();
            if (behind.name.equals(release.name)) {
                if (behind instanceof Request.Claiming claim) {
                    Request both = new Request.Exchange(release, claim);
                    each.remove();
                    return both;
                }
                return release;
            }
        }
        return release;
    }

    /** Takes all out, on the worker's thread. */
    void drain(Consumer<Request> to) {
        noticed.forEach(to);
        noticed.clear();
        Request next = arriving;
        arriving = null;
        if (next != null) {
            to.accept(next);
        }
        drainArrived(to);
    }

    /** Takes all out that the worker has not noticed. Also for several threads at once. */
    void drainArrived(Consumer<Request> to) {
        for (Request each = arrived.poll(); each != null; each = arrived.poll()) {
            to.accept(each);
        }
    }
}
