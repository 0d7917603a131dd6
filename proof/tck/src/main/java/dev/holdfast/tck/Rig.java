package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Capabilities;
import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.testbed.Stalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one test works with: clients of one backing, names nobody else uses, threads; all closed when it ends.
 *
 * <p>Thread-safe.
 */
final class Rig {
    /** Whoever is first in a line of SQLite has twice this long to take what has become free. */
    static final Duration OF_A_TURN = Duration.ofMillis(100);

    private static final int ATTEMPTS = 10;
    private static final long SMALLEST_MARGIN_NANOS = 2_000_000;
    private static final Duration LEAST_RENEWED = Duration.ofSeconds(2);

    final StoreContract contract;
    final Patience patience;
    private final KitTime time = new KitTime();
    private final ExecutorService threads;
    private final Deque<AutoCloseable> opened = new ConcurrentLinkedDeque<>();
    private @Nullable Capabilities capabilities;

    /** The machine was too slow for the case to prove anything; it is tried again. */
    static final class TooSlow extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** A body that may throw anything. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    Rig(StoreContract contract) {
        this.contract = contract;
        this.patience = new Patience(contract.patience());
        this.threads = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "kit-worker");
            thread.setDaemon(true);
            return thread;
        });
    }

    // ---- clients ----

    Store store() {
        return closing(contract.open(new StoreContext(time)));
    }

    RawClient raw() {
        return new RawClient(store(), patience);
    }

    LockClient client() {
        return client(store());
    }

    LockClient client(Store store) {
        return closing(LockClient.builder(store).time(time).build());
    }

    /** A client with settings of its own. */
    LockClient client(Consumer<LockClientBuilder> settings) {
        LockClientBuilder builder = LockClient.builder(store()).time(time);
        settings.accept(builder);
        return closing(builder.build());
    }

    LockClient client(String namespace) {
        return closing(
                LockClient.builder(store()).time(time).namespace(namespace).build());
    }

    /** Closed at the end of the test, the last one first. */
    <T extends AutoCloseable> T closing(T resource) {
        opened.push(resource);
        return resource;
    }

    Capabilities capabilities() {
        Capabilities known = capabilities;
        if (known == null) {
            known = store().capabilities();
            capabilities = known;
        }
        return known;
    }

    // ---- names, time ----

    /** A name nobody has used. */
    String name() {
        return "kit-" + ClaimId.random().value().substring(0, 12);
    }

    /** A lease short enough to wait for its end. */
    Duration brief() {
        return contract.lease();
    }

    /** A lease that a busy machine is in time to renew, for holds that are to end by something else. */
    Duration renewed() {
        Duration some = brief().multipliedBy(2);
        return some.compareTo(LEAST_RENEWED) < 0 ? LEAST_RENEWED : some;
    }

    long now() {
        return time.nanoTime();
    }

    /** Waits for the clock alone. */
    void pass(Duration span) {
        long end = System.nanoTime() + span.toNanos();
        for (long left = span.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** How many of so many waiting claims the status tells of. */
    int counted(int waiting) {
        return capabilities().countsWaiters() ? waiting : 0;
    }

    /** The least time after a grant was asked for at which another may have the name. */
    static long least(Duration lease) {
        return lease.toNanos() - Math.max(lease.toNanos() / 100, SMALLEST_MARGIN_NANOS);
    }

    // ---- what only some stores do ----

    void assumeLeased() {
        assumeFalse(capabilities().sessionBound(), "grants of this store end with a session, not with a lease");
    }

    void assumeSessionBound() {
        assumeTrue(capabilities().sessionBound(), "grants of this store end with a lease, not with a session");
    }

    /** The grant ends, and nobody has told its client. */
    void makeStale(RawClient owner, Grant grant) {
        if (capabilities().sessionBound()) {
            raw().breakShown(grant.name(), true);
        } else {
            pass(grant.lease().plus(contract.staysAfterItsLease())); // and asks nothing: a status that clears up would
            // hide what stays
        }
        if (owner.isHeld(grant.name())) {
            fail("still held: " + grant);
        }
    }

    // ---- threads ----

    /** Runs a task on a thread of its own. */
    <T> Future<T> fork(Callable<T> task) {
        return threads.submit(task);
    }

    /** Runs bodies at the same moment and awaits them all. */
    void race(Body... bodies) {
        CyclicBarrier start = new CyclicBarrier(bodies.length);
        List<Future<?>> racing = new ArrayList<>();
        for (Body body : bodies) {
            racing.add(fork(() -> {
                start.await();
                body.run();
                return true;
            }));
        }
        racing.forEach(each -> patience.result(each, "racing threads"));
    }

    /** Runs a case whose proof needs the machine to keep up; again when it says that it did not. */
    void unhurried(Body attempt) throws Exception {
        for (int i = 0; i < ATTEMPTS; i++) {
            try {
                attempt.run();
                return;
            } catch (TooSlow again) {
                // nothing was proved, and nothing refuted
            }
        }
        fail("the machine was too slow " + ATTEMPTS + " times: give the store a longer lease()");
    }

    /** Ends the attempt if the process or the store stood still for longer than the case allows. */
    void throwIfLonger(Stalls stalls, Duration allowed) {
        if (stalls.longest() > allowed.toNanos()) {
            throw new TooSlow();
        }
    }

    /** Ends all threads and closes all that was opened. */
    void end() throws Exception {
        threads.shutdownNow();
        for (AutoCloseable each = opened.poll(); each != null; each = opened.poll()) {
            each.close();
        }
        time.close();
    }
}
