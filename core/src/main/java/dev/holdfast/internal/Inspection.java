package dev.holdfast.internal;

import dev.holdfast.Holder;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a client asks of its store beside claims, and the wait for the answers: queries about locks, the breaking of a lock, and
 * the records beside them. Each query about locks waits for the releases that this client has begun, so that it does not find
 * locks that were closed before. A query of one name also sends that name's unconfirmed releases first; a list does not.
 * Thread-safe.
 */
public final class Inspection {
    private final Engine engine;
    private final Names names;

    Inspection(Engine engine, Names names) {
        this.engine = engine;
        this.names = names;
    }

    /** The state of a lock, as the store knows it. */
    public LockStatus status(LockName name) {
        engine.throwIfClosed();
        String inStore = name.inStore();
        String doing = "could not ask for the status of '" + name + "'";
        return afterOwnReleases(inStore, () -> engine.store.status(inStore), doing)
                .withName(name.name());
    }

    /** The locks whose names match. */
    public List<LockStatus> list(String pattern) {
        engine.throwIfClosed();
        Pattern glob = Names.glob(pattern);
        String doing = "could not list '" + pattern + "'";
        List<LockStatus> all = afterOwnReleases(null, () -> engine.store.list(names.prefixOf(pattern)), doing);
        return matching(glob, all, LockStatus::name, LockStatus::withName);
    }

    /** The waiters of locks whose names match; empty where the store keeps no names of waiters. */
    public Optional<List<LockWaiter>> waiters(String pattern) {
        engine.throwIfClosed();
        Pattern glob = Names.glob(pattern);
        String doing = "could not list who waits for '" + pattern + "'";
        return afterOwnReleases(null, () -> engine.store.waiters(names.prefixOf(pattern)), doing)
                .map(all -> matching(glob, all, LockWaiter::name, LockWaiter::withName));
    }

    /** Breaks the grant that a token belongs to. */
    public boolean breakGrant(String name, long token, boolean now) {
        engine.throwIfClosed();
        String inStore = names.of(name, Mode.EXCLUSIVE).inStore();
        return afterOwnReleases(
                inStore,
                () -> engine.store.breakGrant(inStore, Tokens.number(token), now),
                "could not break '" + name + "'");
    }

    // ---- records ----

    /** This process, for people. */
    public Holder self() {
        return engine.claims.holder(Thread.currentThread().getName());
    }

    /**
     * The record of a name, and the store's time. The grants that this client claims from now on have higher numbers than
     * the one under which it was written. That holds even if the store has purged the lock, and its clock was set back.
     */
    public RecordReading readRecord(LockName name) {
        engine.throwIfClosed();
        RecordReading read =
                Failures.await(engine.store.readRecord(name.inStore()), "could not read the record of '" + name + "'");
        read.stored().ifPresent(stored -> engine.claims.saw(Tokens.number(stored.token())));
        return read;
    }

    /** Writes a record of a name as it is in the store; empty if the store refused. */
    public Optional<StoredRecord> writeRecord(RecordWrite write) {
        engine.throwIfClosed();
        return Failures.await(
                engine.store.writeRecord(write),
                "could not write the record of '" + names.inClient(write.name()) + "'");
    }

    /** The records of the names that match, named as the client knows them. */
    public List<StoredRecord> listRecords(String pattern) {
        engine.throwIfClosed();
        Pattern glob = Names.glob(pattern);
        String doing = "could not list the records of '" + pattern + "'";
        List<StoredRecord> all = Failures.await(engine.store.listRecords(names.prefixOf(pattern)), doing);
        return matching(
                glob,
                all,
                StoredRecord::name,
                (stored, name) ->
                        new StoredRecord(name, stored.token(), stored.revision(), stored.writtenAt(), stored.value()));
    }

    // ---- named as the client knows them ----

    private <T> List<T> matching(
            Pattern glob, List<T> all, Function<T, String> nameOf, BiFunction<T, String, T> withName) {
        return all.stream()
                .map(one -> withName.apply(one, names.inClient(nameOf.apply(one))))
                .filter(one -> glob.matcher(nameOf.apply(one)).matches())
                .toList();
    }

    // ---- behind this client's releases ----

    /**
     * Sends a query to the store after this client's earlier releases have reached it, and waits for the answer: the
     * releases of one name, or of all if that is null.
     */
    private <T> T afterOwnReleases(@Nullable String inStore, Supplier<CompletableFuture<T>> question, String doing) {
        CompletableFuture<?>[] sent = engine.locks
                .all()
                .filter(lock -> inStore == null || lock.name.inStore().equals(inStore))
                .map(LocalLock::behindReleases)
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture<T> answer = CompletableFuture.allOf(sent)
                .thenCompose(all -> engine.releaseSender.settled(inStore))
                .whenComplete((all, failure) -> {
                    if (inStore != null) {
                        engine.releaseSender.sendUnconfirmed(inStore);
                    }
                })
                .thenCompose(all -> question.get());
        engine.environment.awaiting().accept(answer);
        return Failures.await(answer, doing);
    }
}
