package dev.holdfast.jdbc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
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
    /** What the worker has taken notice of. For its thread alone. */
    private final Deque<Request> noticed = new ArrayDeque<>();

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
        if (noticed.isEmpty()) {
            Request first = arrived.poll(nanos, TimeUnit.NANOSECONDS);
            if (first == null) {
                return null;
            }
            noticed.add(first);
        }
        arrived.drainTo(noticed);
        runTasks();
        Request first = noticed.poll();
        if (first instanceof Request.Release release) {
            Request.Claiming behind = claimBehind(release);
            return behind == null ? release : new Request.Exchange(release, behind);
        }
        return first;
    }

    private void runTasks() {
        List<Request.Before> tasks = new ArrayList<>();
        noticed.removeIf(request -> request instanceof Request.Before task && tasks.add(task));
        tasks.forEach(task -> task.runTask(store));
        arrived.drainTo(noticed);
    }

    /** The next request for the same name, if it is a claim; taken out of the queue. */
    private Request.@Nullable Claiming claimBehind(Request.Release release) {
        for (Iterator<Request> each = noticed.iterator(); each.hasNext(); ) {
            Request request = each.next();
            if (request.name.equals(release.name)) {
                if (request instanceof Request.Claiming claim) {
                    each.remove();
                    return claim;
                }
                return null;
            }
        }
        return null;
    }

    /** Takes all out, on the worker's thread. */
    void drain(Consumer<Request> to) {
        noticed.forEach(to);
        noticed.clear();
        drainArrived(to);
    }

    /** Takes all out that the worker has not noticed. Also for several threads at once. */
    void drainArrived(Consumer<Request> to) {
        for (Request each = arrived.poll(); each != null; each = arrived.poll()) {
            to.accept(each);
        }
    }
}
