package dev.holdfast.internal;

import dev.holdfast.Holder;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The records of one client's store: requests, and the wait for their answers. Thread-safe. */
public final class Records {
    private final EngineContext context;
    private final Names names;

    Records(EngineContext context, Names names) {
        this.context = context;
        this.names = names;
    }

    /** This process, for people. */
    public Holder self() {
        return context.claims.holder(Thread.currentThread().getName());
    }

    /**
     * The record of a name, and the store's time. The grants that this client claims from now on have higher numbers than
     * the one under which it was written: also if the store has purged the lock since, and its clock was set back.
     */
    public RecordReading read(LockName name) {
        RecordReading read =
                Failures.await(store().readRecord(name.inStore()), "could not read the record of '" + name + "'");
        read.stored().ifPresent(stored -> context.claims.saw(Tokens.number(stored.token())));
        return read;
    }

    /** Writes a record of a name as it is in the store; empty if the store refused. */
    public Optional<StoredRecord> write(RecordWrite write) {
        return Failures.await(
                store().writeRecord(write), "could not write the record of '" + names.inClient(write.name()) + "'");
    }

    /** The records of the names that match, named as the client knows them. */
    public List<StoredRecord> list(String pattern) {
        Pattern glob = Names.glob(pattern);
        return Failures.await(
                        store().listRecords(names.prefixOf(pattern)), "could not list the records of '" + pattern + "'")
                .stream()
                .map(stored -> new StoredRecord(
                        names.inClient(stored.name()),
                        stored.token(),
                        stored.revision(),
                        stored.writtenAt(),
                        stored.value()))
                .filter(stored -> glob.matcher(stored.name()).matches())
                .toList();
    }

    private StoreLink store() {
        context.throwIfClosed();
        return context.store;
    }
}
