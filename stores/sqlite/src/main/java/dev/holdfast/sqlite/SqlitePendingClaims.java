package dev.holdfast.sqlite;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.WaiterExpiry;
import dev.holdfast.sqlite.SqliteLocks.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The waiting claims of this client, and the one thread that watches for all of them. The thread runs only while a claim
 * waits, and shortly after.
 *
 * <pre>
 *   claim ──► try ── granted ──────────────────────────────────────────────────────────────► answer
 *              │ not free                                                                     ▲
 *              ▼                                                                              │
 *            enter the queue ──► listen ──► changed, or due? ──► poll ──► my turn ──► try ────┤
 *              ▲                   ▲               │ no            │ not yet          │ lost  │
 *              │                   ├───────────────┴───────────────┴──────────────────┘       │
 *              └── place gone ─────┘                                          cancel: leave ──┘
 * </pre>
 *
 * <p>Listening and polling only read ({@link ChangePoller}); the {@link SqliteWorker} runs the tries and writes the queue.
 * A poll returns how long until the claim may try even if nothing changes: until the holder's lease has expired, or those
 * before the claim in the queue have let their turns pass. So a waiter needs no message from a holder that died.
 *
 * <p>A place in the queue counts for the time that {@link WaiterExpiry} gives. It is kept alive every third of that time,
 * all places in one statement.
 */
final class SqlitePendingClaims {
    private static final Duration LINGER = Duration.ofSeconds(5);
    private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

    /** When hundreds of claims wait, a poll of all takes long. The next then follows after this many times its length. */
    private static final int REST = 20;

    private static final long SHORT_POLL = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LONGEST_REST = Duration.ofMillis(40).toNanos();

    private final SqliteDatabase database;
    private final SqliteWorker worker;
    private final BusyTimeout busyTimeout;
    private final Set<SqlitePendingClaim> all = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private final LateListener listener = new LateListener();
    private volatile boolean closed;

    SqlitePendingClaims(SqliteDatabase database, SqliteWorker worker, BusyTimeout busyTimeout) {
        this.database = database;
        this.worker = worker;
        this.busyTimeout = busyTimeout;
    }

    /** Notifies this listener when waiting claims cannot be served, and when they can again. */
    void listen(StoreListener reports) {
        listener.set(reports);
    }

    Pending claim(Claim claim, Answer answer) {
        SqlitePendingClaim waiting = new SqlitePendingClaim(claim, answer, this::leave, all::remove);
        waiting.trying = true;
        all.add(waiting); // before the try: a close in between finds the claim, and its place
        try {
            tryNow(waiting);
        } catch (Throwable notTried) {
            all.remove(waiting);
            throw notTried;
        }
        return waiting;
    }

    /** Ends the thread; may be called again. Waiting claims stay until {@link #leaveAll} and {@link #failAll}. */
    void close() {
        closed = true;
        busyTimeout.end();
        Thread running = thread.get();
        if (running != null) {
            LockSupport.unpark(running);
            DaemonThreads.awaitEnd(running);
        }
    }

    /** Gives up all places, so that no claim waits behind a client that is gone. */
    void leaveAll(SqliteLocks table) {
        all.forEach(waiting -> waiting.dequeue(table));
    }

    void failAll(HoldfastException failure) {
        all.forEach(waiting -> waiting.fail(failure));
    }

    private void leave(SqlitePendingClaim waiting) {
        worker.ask(table -> {
                    waiting.leave(table);
                    return waiting;
                })
                .whenComplete((left, failure) -> {
                    if (failure != null) {
                        waiting.fail(failure);
                    }
                });
    }

    private void tryNow(SqlitePendingClaim waiting) {
        waiting.trying = true;
        worker.ask(table -> {
                    waiting.tryNow(table);
                    return waiting;
                })
                .whenComplete((tried, failure) -> tried(waiting, failure));
    }

    private void tried(SqlitePendingClaim waiting, @Nullable Throwable failure) {
        if (failure instanceof HoldfastException e && database.isPassing(e)) {
            waiting.due = database.nanoTime() + AFTER_FAILURE.toNanos();
            listener.unreachable(waiting.claim().name(), e);
        } else if (failure != null) {
            waiting.fail(failure);
        } else {
            waiting.stale = true;
            listener.reachable();
        }
        waiting.trying = false;
        if (!waiting.isDone()) {
            wake();
        }
    }

    /** If a place could not be kept alive, a later poll finds it lost and the claim enters again; the listener gets why. */
    private void kept(Place first, @Nullable Throwable failure) {
        if (failure instanceof HoldfastException e && database.isPassing(e)) {
            listener.unreachable(first.name(), e);
        } else if (failure == null) {
            listener.reachable();
        }
    }

    private void wake() {
        Thread running = thread.get();
        if (running != null) {
            LockSupport.unpark(running);
        } else if (!closed) {
            start();
        }
    }

    private void start() {
        Thread fresh = null;
        try {
            fresh = DaemonThreads.daemon("holdfast-wait-" + database.description(), this::run);
            if (thread.compareAndSet(null, fresh)) {
                fresh.start();
            }
        } catch (Error noThread) { // the next claim tries again
            thread.compareAndSet(fresh, null);
            failAll(new StoreRefusedException(
                    "no thread could be started to wait on " + database.description()
                            + "; see how many threads the process and the machine may have",
                    noThread));
        }
    }

    private void run() {
        try {
            watch();
        } finally {
            thread.set(null);
            if (!all.isEmpty()) {
                wake(); // a claim has just been added, or the failure was a passing one
            }
        }
    }

    private void watch() {
        HoldfastException end = null;
        try (ChangePoller changes = open()) {
            new Watch(changes).run();
        } catch (HoldfastException e) {
            end = e;
        } catch (RuntimeException | Error e) {
            end = new HoldfastException("waiting on " + database.description() + " failed; please report this", e);
        }
        if (end != null && !closed && !database.isPassing(end)) {
            failAll(end);
        }
    }

    private ChangePoller open() {
        busyTimeout.restart(System.nanoTime());
        return database.watch(busyTimeout);
    }

    /** The work of the thread, in rounds; used by that thread only. */
    private final class Watch {
        private final ChangePoller changes;
        private long busy = System.nanoTime();
        private long restUntil = busy;
        private long keptAt = database.nanoTime();
        private boolean changed;

        Watch(ChangePoller changes) {
            this.changes = changes;
        }

        void run() {
            while (!closed) {
                if (!all.isEmpty()) {
                    busy = System.nanoTime();
                    busyTimeout.restart(busy);
                    round();
                } else if (System.nanoTime() - busy < LINGER.toNanos()) {
                    LockSupport.parkNanos(LINGER.toNanos());
                } else {
                    return;
                }
            }
        }

        private void round() {
            changed |= changes.await(foremost(), untilDue());
            long begun = System.nanoTime();
            if (changed && begun - restUntil >= 0) {
                changed = false;
                all.forEach(waiting -> waiting.stale = true);
            }
            if (pollAll()) {
                long end = System.nanoTime();
                restUntil = end + Math.min(REST * Math.max(0, end - begun - SHORT_POLL), LONGEST_REST);
            }
            if (database.nanoTime() - keptAt >= keepEvery()) {
                keptAt = database.nanoTime();
                keepPlaces();
            }
        }

        private long keepEvery() {
            long least = SqliteLocks.PLACE_LIFE.dividedBy(3).toNanos();
            for (SqlitePendingClaim waiting : all) {
                least = Math.min(least, waiting.keepNanos);
            }
            return least;
        }

        private int foremost() {
            int least = Integer.MAX_VALUE;
            for (SqlitePendingClaim waiting : all) {
                if (!waiting.trying) {
                    least = Math.min(least, waiting.ahead());
                }
            }
            return least;
        }

        private long untilDue() {
            long least = Long.MAX_VALUE;
            long now = database.nanoTime();
            for (SqlitePendingClaim waiting : all) {
                if (!waiting.trying) {
                    least = Math.min(least, waiting.stale ? 0 : waiting.due - now);
                }
            }
            return least;
        }

        private boolean pollAll() {
            boolean polled = false;
            for (SqlitePendingClaim waiting : all) {
                if (!waiting.trying && (waiting.stale || database.nanoTime() - waiting.due >= 0)) {
                    poll(waiting);
                    polled = true;
                }
            }
            return polled;
        }

        private void poll(SqlitePendingClaim waiting) {
            waiting.stale = false;
            ChangePoller.Turn turn;
            try {
                turn = changes.poll(waiting.claim(), waiting.place());
            } catch (StoreRefusedException e) {
                waiting.fail(e); // perhaps only this name is refused
                return;
            }
            if (waiting.moved(turn)) {
                changes.queueMoved();
            }
            if (turn.lost()) {
                waiting.losePlace();
            }
            if (turn.lost() || turn.nanos() == 0) {
                tryNow(waiting);
            } else {
                waiting.due = database.nanoTime() + turn.nanos();
            }
        }

        private void keepPlaces() {
            List<Place> places = new ArrayList<>();
            for (SqlitePendingClaim waiting : all) {
                if (waiting.hasPlace()) {
                    places.add(new Place(waiting.claim().name(), waiting.place(), WaiterExpiry.of(waiting.claim())));
                }
            }
            for (int from = 0; from < places.size(); from += database.chunk()) {
                List<Place> chunk = places.subList(from, Math.min(from + database.chunk(), places.size()));
                worker.ask(table -> {
                            table.keepPlaces(chunk);
                            return chunk;
                        })
                        .whenComplete((kept, failure) -> kept(chunk.get(0), failure));
            }
        }
    }
}
