package dev.holdfast.jdbc;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
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
import dev.holdfast.spi.support.WaiterPoll;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Locks as rows of a table on a database server: the requests of the engine, turned into statements.
 *
 * <pre>
 *   engine ──► ServerStore ──► ConnectionWorker 0: one thread, one connection     requests for a name: one worker, in order
 *                          ──► ConnectionWorker 1: …                              other names: beside it
 *                          ──► PendingClaims ──► OfferListener: one connection while anything waits
 * </pre>
 *
 * <p>A hand-over between clients, on the wire:
 *
 * <pre>
 *   A closes, and wants it again    one UPDATE: B is the holder for a second, A is in the queue; B is notified
 *   B receives it                   one UPDATE: confirmed, B's lease begins
 * </pre>
 *
 * <p>How a lock goes from state to state is described in {@link LockTransition}, what is stored in {@link RowSql}. Thread-safe.
 */
final class ServerStore implements Store {
    private final TableOpener tables;
    private final List<ConnectionWorker> workers = new ArrayList<>();
    private final List<TablePurge> purges = new ArrayList<>();
    private final PendingClaims queue;
    private final ServerRenewals renewals;
    private final Capabilities capabilities;
    private final ServerRecords records;
    private final WaiterPoll waiterPoll;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** A lock was wanted. */
    private volatile boolean used;

    private ServerStore(
            TableOpener tables,
            JdbcOptions options,
            Connections listenerConnections,
            TimeSource time,
            boolean purgeIsDue) {
        this.tables = tables;
        this.records = new ServerRecords(tables.dialect(), tables.errors(), options);
        for (int i = 0; i < options.connections(); i++) {
            workers.add(new ConnectionWorker(tables, i));
            purges.add(new TablePurge(workers.get(i), purgeIsDue && i == 0, () -> used));
        }
        this.renewals = new ServerRenewals(tables, this::worker);
        this.queue = new PendingClaims(tables, ClaimId.random().value().substring(0, 16), listenerConnections);
        this.waiterPoll = new WaiterPoll(
                this::valid,
                // On the timer's own thread: a question is put in the queue of a worker, and nothing waits.
                (after, task) -> time.schedule(task, after));
        // A release and the claim behind it are one statement already: there is nothing cheaper to extend a grant by.
        this.capabilities = Capabilities.least()
                .pushes(tables.dialect().pushes())
                .fair(true)
                .ordered(true)
                .records(true)
                .wanted(true)
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(caveats(tables.dialect(), options));
    }

    private static List<String> caveats(ServerDialect dialect, JdbcOptions options) {
        List<String> all = new ArrayList<>(dialect.caveats());
        if (options.unlogged()) {
            all.addAll(UnloggedRows.CAVEATS);
        }
        all.add("A server's clock that is set forward ends leases early; one that is set back keeps the lock of a dead"
                + " holder that much longer.");
        all.add(
                "The row of a name that was not used for an hour is removed: if the server's clock is then set back, a client"
                        + " that has not seen the earlier tokens may get lower ones.");
        return all;
    }

    /**
     * Opens the store, one connection for a start; creates the table or checks it. A failure leaves nothing open.
     *
     * @param all whether all connections are opened now, and kept: where others might take them
     */
    static ServerStore open(
            ServerDialect dialect,
            JdbcOptions options,
            Connections connections,
            String description,
            TimeSource time,
            boolean all) {
        TableOpener tables = new TableOpener(dialect, options, connections, description, time);
        List<LockRows> opened = new ArrayList<>();
        boolean ready = false;
        try {
            opened.add(tables.open());
            while (all && opened.size() < options.connections()) {
                opened.add(oneMore(tables, opened.size(), options));
            }
            boolean purgeIsDue = tables.prepare(opened.get(0));
            ServerStore store = new ServerStore(tables, options, connections, time, purgeIsDue);
            for (int i = 0; i < opened.size(); i++) {
                store.workers.get(i).use(opened.get(i));
            }
            store.purges.forEach(TablePurge::start);
            ready = true;
            return store;
        } catch (SQLException e) {
            throw tables.errors().explain("open the locks", "", e);
        } finally {
            if (!ready) {
                opened.forEach(each -> tables.returnSession(each.session(), false));
            }
        }
    }

    private static LockRows oneMore(TableOpener tables, int opened, JdbcOptions options) throws SQLException {
        try {
            return tables.open();
        } catch (SQLException e) {
            if (tables.errors().isBroken(e)) {
                throw e; // the server has gone meanwhile, or takes no more
            }
            throw new StoreUnavailableException(
                    "cannot open the locks on " + tables.description() + ": of the " + options.connections()
                            + " connections that they keep (JdbcOptions.connections), only " + opened
                            + " could be had (" + SqlErrors.firstLine(e)
                            + "); make the pool that much larger, and by one more where claims wait on PostgreSQL",
                    e);
        }
    }

    @Override
    public String description() {
        return tables.description();
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    /** A row learns nothing of grants by itself; only that the database cannot be reached while claims wait. */
    @Override
    public void listen(StoreListener listener) {
        queue.listen(listener);
        waiterPoll.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        used = true;
        if (claim.waits()) {
            Pending waiting = queue.claim(claim, answer, worker(claim.name()));
            if (closed.get()) {
                queue.failAll(tables.closedException()); // the close may have looked before this claim came
            }
            return waiting;
        }
        ConnectionWorker worker = worker(claim.name());
        worker.add(new Attempt(claim, answer, worker));
        return Pending.BRIEFLY;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return renewals.renew(grants);
    }

    /** One query, and one more every 20 ms. */
    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return waiterPoll.watch(grant);
    }

    private CompletionStage<Map<ClaimId, Boolean>> valid(List<Grant> grants) {
        String name = grants.get(0).name();
        return worker(name).askOnce("look at", name, table -> table.valid(grants));
    }

    /** Never: releasing and claiming again is one statement too, and lets others in. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return closed.get()
                ? CompletableFuture.failedFuture(tables.closedException())
                : CompletableFuture.completedFuture(Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        waiterPoll.forget(grant);
        return worker(grant.name()).ask("downgrade", grant.name(), table -> table.downgrade(grant.name(), grant.id()));
    }

    /** Gives it back. What a late copy of its claim then takes, for nobody, is cleared away a third of a lease later. */
    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        waiterPoll.forget(grant);
        ConnectionWorker worker = worker(grant.name());
        CompletionStage<Boolean> answer = worker.release(grant.name(), grant.id());
        if (worker.wasSentTwice(grant.id())) {
            worker.ask("plan", "", table -> {
                withdrawLater(worker, grant.name(), grant.id(), grant.lease());
                return true;
            });
        }
        return answer;
    }

    /** Once more after a third of its lease: a late copy of it may have been granted. Called on the worker's thread. */
    static void withdrawLater(ConnectionWorker worker, String name, ClaimId id, Duration lease) {
        worker.later(lease.dividedBy(3).toNanos(), () -> withdraw(worker, name, id));
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        worker(name).beforeSending(task);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        ConnectionWorker worker = worker(claim.name());
        worker.wasSentTwice(claim.id());
        return withdraw(worker, claim.name(), claim.id()).thenAccept(done -> {});
    }

    private static CompletableFuture<Boolean> withdraw(ConnectionWorker worker, String name, ClaimId id) {
        return worker.ask("withdraw", name, table -> {
            table.withdraw(name, id);
            return true;
        });
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return worker(name)
                .ask(
                        "look at",
                        name,
                        table -> table.read(name)
                                .map(row -> RowStatus.of(name, row.state()))
                                .orElse(LockStatus.free(name, 0)));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        ConnectionWorker worker = worker(prefix);
        return PagedListing.all(
                after -> worker.ask("list", prefix, table -> table.list(prefix, after)), LockStatus::name);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        Request.Break request = new Request.Break(name, number, now, description());
        worker(name).add(request);
        return request.answer;
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return records.read(worker(name), name);
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return records.write(worker(write.name()), write);
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return records.list(worker(prefix), prefix);
    }

    /** Places in the queue are given up; grants are left to their leases. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            ClientClosedException why = tables.closedException();
            waiterPoll.close();
            for (int i = 0; i < workers.size(); i++) {
                ConnectionWorker worker = workers.get(i);
                TablePurge purge = purges.get(i);
                worker.close(table -> {
                    queue.leave(worker, table);
                    purge.end(table);
                    return true;
                });
            }
            workers.forEach(ConnectionWorker::awaitEnd); // together, so that servers that hang are waited for once
            queue.failAll(why);
            queue.close();
        }
    }

    private ConnectionWorker worker(String name) {
        int hash = name.hashCode();
        return workers.get(Math.floorMod(hash ^ (hash >>> 16), workers.size()));
    }

    /** A claim that does not wait. */
    private static final class Attempt extends Request.Claiming {
        private final Answer answer;
        private final ConnectionWorker worker;

        Attempt(Claim claim, Answer answer, ConnectionWorker worker) {
            super(claim);
            this.answer = answer;
            this.worker = worker;
        }

        @Override
        boolean run(LockRows table, @Nullable String released) throws SQLException {
            LockRows.Answer said = table.claim(claim, released, null);
            if (said.grant().isEmpty() && worker.wasSentTwice(claim.id())) {
                withdrawLater(worker, claim.name(), claim.id(), claim.lease());
            }
            said.grant().ifPresentOrElse(answer::granted, answer::refused);
            return said.releasedHeld();
        }

        @Override
        void fail(HoldfastException failure) {
            answer.failed(failure);
        }
    }
}
