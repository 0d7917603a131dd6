package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.PagedListing;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The records of a server, in a table beside that of the locks, which is made when the first is written. Where there is no
 * table, a reading finds no record. Thread-safe.
 */
final class ServerRecords {
    static final String SUFFIX = "_record";

    private static final int CREATE_TRIES = 3;

    private final ServerDialect dialect;
    private final SqlErrors errors;
    private final JdbcOptions options;
    private final String table;

    ServerRecords(ServerDialect dialect, SqlErrors errors, JdbcOptions options) {
        this.dialect = dialect;
        this.options = options;
        this.table = dialect.quoted(options.qualifiedTable()) + SUFFIX;
        this.errors = new SqlErrors(dialect, errors.store(), table);
    }

    /** The name of the index of a table of records, by which those whose time has passed are found. */
    static String index(String table) {
        return table.substring(table.lastIndexOf('.') + 1) + "_until";
    }

    CompletionStage<RecordReading> read(ConnectionWorker worker, String name) {
        return ask(worker, "read the record of", name, records -> records.read(name), RowRecords::readNothing);
    }

    CompletionStage<Optional<StoredRecord>> write(ConnectionWorker worker, RecordWrite write) {
        Work<Optional<StoredRecord>> work = records -> records.write(write);
        return ask(worker, "write the record of", write.name(), work, records -> {
            create(records.session());
            return work.on(records);
        });
    }

    CompletionStage<List<StoredRecord>> list(ConnectionWorker worker, String prefix) {
        return PagedListing.all(after -> page(worker, prefix, after), StoredRecord::name);
    }

    private CompletableFuture<PagedListing.Page<StoredRecord>> page(
            ConnectionWorker worker, String prefix, String after) {
        Work<PagedListing.Page<StoredRecord>> work = records -> records.list(prefix, after);
        return ask(worker, "list the records of", prefix, work, records -> new PagedListing.Page<>(List.of(), ""));
    }

    @FunctionalInterface
    private interface Work<T> {
        T on(RowRecords records) throws SQLException;
    }

    private <T> CompletableFuture<T> ask(
            ConnectionWorker worker, String what, String name, Work<T> work, Work<T> withoutTable) {
        return worker.ask(what, name, rows -> {
            SqlSession session = rows.session();
            RowRecords records = new RowRecords(dialect, table, session);
            try {
                return on(records, work, withoutTable);
            } catch (SQLException e) {
                if (session.connection().isClosed()) {
                    throw e;
                }
                HoldfastException explained = errors.explain(what, name, e);
                if (explained instanceof StoreRefusedException) {
                    throw explained; // the worker would name the table of locks
                }
                throw e;
            }
        });
    }

    private <T> T on(RowRecords records, Work<T> work, Work<T> withoutTable) throws SQLException {
        try {
            return work.on(records);
        } catch (SQLException e) {
            if (!errors.isMissing(e)) {
                throw e;
            }
            return withoutTable.on(records);
        }
    }

    /** Others may do the same now: what one finds done by another is no failure. */
    private void create(SqlSession session) throws SQLException {
        if (!options.createTable()) {
            throw new StoreRefusedException("cannot keep records on " + errors.store() + ": there is no table " + table
                    + ", and it may not be created (createTable is off); run what 'holdfast schema "
                    + dialect.names().get(0) + "' prints");
        }
        dialect.lockCreation(session, true);
        try {
            createOrFind(session);
        } finally {
            dialect.lockCreation(session, false);
        }
    }

    /** All of it, or nothing. H2 fails in many ways where another makes the same now, and finds it there afterwards. */
    private void createOrFind(SqlSession session) throws SQLException {
        String statements = String.join(";\n", dialect.createRecords(table));
        for (int tries = 1; ; tries++) {
            try {
                session.execute(statements);
                return;
            } catch (SQLException e) {
                if (errors.mayBeMissing(e)) {
                    return;
                }
                if (tries == CREATE_TRIES || session.connection().isClosed()) {
                    throw e;
                }
            }
        }
    }
}
