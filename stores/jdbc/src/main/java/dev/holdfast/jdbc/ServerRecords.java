package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The records of a server, in a table beside that of the locks, which is made when it is missing. Thread-safe. */
final class ServerRecords {
    static final String SUFFIX = "_record";

    private final ServerDialect dialect;
    private final SqlErrors errors;
    private final JdbcOptions options;
    private final String table;

    ServerRecords(ServerDialect dialect, SqlErrors errors, JdbcOptions options) {
        this.dialect = dialect;
        this.errors = errors;
        this.options = options;
        this.table = options.qualifiedTable() + SUFFIX;
    }

    CompletionStage<RecordReading> read(ConnectionWorker worker, String name) {
        return worker.ask("read the record of", name, rows -> on(rows, records -> records.read(name)));
    }

    CompletionStage<Optional<StoredRecord>> write(ConnectionWorker worker, RecordWrite write) {
        return worker.ask("write the record of", write.name(), rows -> on(rows, records -> records.write(write)));
    }

    CompletionStage<List<StoredRecord>> list(ConnectionWorker worker, String prefix) {
        List<StoredRecord> found = new ArrayList<>();
        return next(worker, prefix, "", found).thenApply(done -> {
            found.sort(Comparator.comparing(StoredRecord::name)); // databases sort by UTF-8, Java by UTF-16
            return List.copyOf(found);
        });
    }

    /** Page by page, so that other requests get in between. */
    private CompletableFuture<Boolean> next(
            ConnectionWorker worker, String prefix, String after, List<StoredRecord> found) {
        return worker.ask("list the records of", prefix, rows -> on(rows, records -> records.list(prefix, after)))
                .thenCompose(page -> {
                    found.addAll(page);
                    return page.size() < RowRecords.PAGE
                            ? CompletableFuture.completedFuture(true)
                            : next(worker, prefix, page.get(page.size() - 1).name(), found);
                });
    }

    @FunctionalInterface
    private interface Work<T> {
        T on(RowRecords records) throws SQLException;
    }

    private <T> T on(LockRows rows, Work<T> work) throws SQLException {
        RowRecords records = new RowRecords(dialect, table, rows.session());
        try {
            return work.on(records);
        } catch (SQLException e) {
            if (!errors.isMissing(e)) {
                throw e;
            }
            create(rows.session());
            return work.on(records);
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
            for (String statement : dialect.createRecords(table)) {
                session.execute(statement);
            }
        } catch (SQLException e) {
            if (!errors.mayBeMissing(e)) {
                throw e;
            }
        } finally {
            dialect.lockCreation(session, false);
        }
    }
}
