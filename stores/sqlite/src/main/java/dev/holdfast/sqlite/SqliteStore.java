package dev.holdfast.sqlite;

import dev.holdfast.Capabilities;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.PagedListing;
import dev.holdfast.spi.support.RenewalChunks;
import dev.holdfast.spi.support.WaiterPoll;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Locks as rows of a table: the requests of the engine, turned into statements.
 *
 * <pre>
 *   engine ──► SqliteStore ────────────► SqliteWorker: one thread, one connection, requests in order
 *                 │ claim that waits        ▲ try, once it may succeed
 *                 └──► SqlitePendingClaims ─┘
 *                      one thread while a claim waits; reads only
 * </pre>
 *
 * <p>Each request is one statement in a transaction of its own. Lock, release and hand-over update one row, which is kept
 * when it is free ({@link Housekeeping} removes it an hour later). What is special to the database is behind {@link
 * SqliteDatabase}. Thread-safe.
 */
final class SqliteStore implements Store {
    /** After this time, a request fails with {@link dev.holdfast.StoreUnavailableException}. */
    private static final Duration BUSY_TIMEOUT = Duration.ofSeconds(10);

    private final SqliteDatabase database;
    private final SqliteWorker worker;
    private final SqlitePendingClaims waiters;
    private final Housekeeping housekeeping;
    private final WaiterPoll waiterPoll;

    private SqliteStore(SqliteDatabase database, SqliteWorker worker, TimeSource time, Duration limit) {
        this.database = database;
        this.worker = worker;
        this.waiters = new SqlitePendingClaims(database, worker, new BusyTimeout(limit));
        this.housekeeping = new Housekeeping(worker, time, database::nanoTime);
        this.waiterPoll = new WaiterPoll(
                grants -> worker.ask(table -> table.valid(grants)), (after, task) -> time.schedule(task, after));
    }

    /** Opens the store of a database. A failure leaves neither threads nor connections. */
    static SqliteStore open(SqliteDatabase database, TimeSource time) {
        return open(database, time, BUSY_TIMEOUT);
    }

    static SqliteStore open(SqliteDatabase database, TimeSource time, Duration limit) {
        BusyTimeout busyTimeout = new BusyTimeout(limit);
        SqliteLocks table = database.open(busyTimeout);
        SqliteWorker worker = SqliteWorker.start(database.description(), table, busyTimeout);
        SqliteStore store = new SqliteStore(database, worker, time, limit);
        store.housekeeping.start();
        return store;
    }

    @Override
    public String description() {
        return database.description();
    }

    @Override
    public Capabilities capabilities() {
        return database.capabilities();
    }

    /** The file reports nothing about grants by itself; the store reports only that it is unreachable while claims wait. */
    @Override
    public void listen(StoreListener listener) {
        waiters.listen(listener);
        waiterPoll.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        if (!capabilities().modes().contains(claim.mode().kind())) {
            answer.failed(new UnsupportedByStoreException("cannot claim '" + claim.name() + "' on " + description()
                    + ": it grants " + capabilities().modes() + " only; use another store"));
            return Pending.BRIEFLY;
        }
        housekeeping.used();
        if (claim.waits()) {
            return waiters.claim(claim, answer);
        }
        answer.follow(worker.ask(
                table -> table.couldBeGranted(claim) ? table.claim(claim, SqliteLocks.NO_PLACE) : Optional.empty()));
        return Pending.BRIEFLY;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        List<Grant> sorted = new ArrayList<>(grants); // all clients touch the rows in the same order
        sorted.sort(Comparator.comparing(Grant::name));
        return RenewalChunks.renew(sorted, database.chunk(), part -> worker.ask(table -> table.renew(part)));
    }

    /** One read, and one more every 20 ms. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return waiterPoll.watch(grant);
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return worker.ask(table -> table.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        waiterPoll.forget(grant);
        return worker.ask(table -> table.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        waiterPoll.forget(grant);
        return worker.ask(table -> table.release(grant.name(), grant.mode(), grant.id()));
    }

    /** On the thread that runs the statements. */
    @Override
    public void beforeSending(String name, Runnable task) {
        worker.ask(table -> {
                    task.run();
                    return true;
                })
                .exceptionally(closed -> {
                    task.run();
                    return false;
                });
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return worker.ask(table -> {
            table.dequeue(claim.name(), claim.id());
            table.release(claim.name(), claim.mode(), claim.id());
            return null;
        });
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return worker.ask(table -> table.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return PagedListing.all(after -> worker.ask(table -> table.list(prefix, after)), LockStatus::name);
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return worker.ask(table -> Optional.of(table.waiters(prefix)));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return worker.ask(table -> table.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return worker.ask(table -> table.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return worker.ask(table -> table.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return PagedListing.all(after -> worker.ask(table -> table.records(prefix, after)), StoredRecord::name);
    }

    /** Leaves all queues; grants remain until their leases end. */
    @Override
    public void close() {
        housekeeping.close();
        waiterPoll.close();
        waiters.close();
        worker.close(table -> {
            waiters.leaveAll(table);
            housekeeping.end(table);
        });
        waiters.failAll(worker.closedException());
        waiters.close(); // a try that was under way may have started the thread again
    }
}
