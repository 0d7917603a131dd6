package dev.holdfast.jdbc;

import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.PagedListing;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The records of a server's table, on one connection. Each changes in one statement. A revision is the microsecond of its
 * write, or above that if the server's clock was set back; so a record that was removed needs no trace. Whether work is run is decided by what
 * is read: so no replica answers it. For one thread.
 */
final class RowRecords {
    private static final String PRESENT = "23505";
    private static final int WRITES_PER_PURGE = 16;
    private static final int PURGED_AT_ONCE = 50;
    /** From now on: what is removed ended fifty years ago, and is absent whatever the clock is set to later. */
    private static final long FORGOTTEN = -Micros.of(Duration.ofDays(50 * 365));

    private static final String COLUMNS = "name, token, revision, written_at, content";

    private final ServerDialect dialect;
    private final SqlSession session;
    private final String now;
    private final String read;
    private final String clock;
    private final String update;
    private final String insert;
    private final String list;
    private final String over;
    private final String remove;

    RowRecords(ServerDialect dialect, String table, SqlSession session) {
        this.dialect = dialect;
        this.session = session;
        this.now = dialect.now();
        this.read = dialect.readToChange(
                "SELECT " + COLUMNS + ", keep_until, " + now + " FROM " + table + " WHERE name = ?");
        this.clock = dialect.readToChange("SELECT " + now);
        this.update = "UPDATE " + table + " SET revision = greatest(revision + 1, " + now
                + "), token = ?, written_at = " + now + ", keep_until = " + now
                + " + ?, content = ? WHERE name = ? AND ";
        this.insert = dialect.insertIfAbsent(
                table, COLUMNS + ", keep_until", "?, ?, " + now + ", " + now + ", ?, " + now + " + ?");
        this.list = "SELECT " + COLUMNS + " FROM " + table + " WHERE name >= ? AND name < " + dialect.bound(table)
                + " AND name > ? AND keep_until > " + now + " ORDER BY name"
                + dialect.rows(Integer.toString(PagedListing.PAGE), 0);
        String over = " WHERE keep_until <= " + now + " AND revision < " + now;
        this.over = "SELECT name FROM " + table + over + dialect.rows(Integer.toString(PURGED_AT_ONCE), 0);
        this.remove = "DELETE FROM " + table + over + " AND name IN (" + "?, ".repeat(PURGED_AT_ONCE - 1) + "?)";
    }

    /** The answer where there is no table yet. */
    RecordReading readNothing() throws SQLException {
        return new RecordReading(clock(), Optional.empty());
    }

    RecordReading read(String name) throws SQLException {
        List<RecordReading> found = session.all(
                read,
                row -> new RecordReading(
                        moment(row.getLong(7)),
                        row.getLong(6) > row.getLong(7) ? Optional.of(stored(row)) : Optional.empty()),
                List.of(dialect.name(name)));
        return found.isEmpty() ? readNothing() : found.get(0);
    }

    SqlSession session() {
        return session;
    }

    Optional<StoredRecord> write(RecordWrite write) throws SQLException {
        long keep = write.keep().isZero() ? FORGOTTEN : Micros.of(write.keep());
        if (!change(write, keep)
                && (write.revision() > RecordWrite.ABSENT || !add(write, keep))
                && (write.revision() != RecordWrite.ANY || !change(write, keep))) { // made by another meanwhile
            return Optional.empty();
        }
        StoredRecord written = read(write.name()).after(write);
        purge();
        return Optional.of(written);
    }

    private boolean change(RecordWrite write, long keep) throws SQLException {
        List<Object> arguments =
                new ArrayList<>(List.of(write.token(), keep, write.value(), dialect.name(write.name())));
        String where;
        if (write.revision() == RecordWrite.ANY) {
            where = "(keep_until <= " + now + " OR token <= ?)";
            arguments.add(write.token());
        } else if (write.revision() == RecordWrite.ABSENT) {
            where = "keep_until <= " + now;
        } else {
            where = "keep_until > " + now + " AND token <= ? AND revision = ?";
            arguments.add(write.token());
            arguments.add(write.revision());
        }
        return session.update(update + where, arguments) > 0;
    }

    private boolean add(RecordWrite write, long keep) throws SQLException {
        try {
            return session.update(insert, List.of(dialect.name(write.name()), write.token(), write.value(), keep)) > 0;
        } catch (SQLException e) {
            if (PRESENT.equals(e.getSQLState())) {
                return false; // H2 says so by a failure
            }
            throw e;
        }
    }

    PagedListing.Page<StoredRecord> list(String prefix, String after) throws SQLException {
        List<StoredRecord> found = session.all(
                list, this::stored, List.of(dialect.name(prefix), dialect.behind(prefix), dialect.name(after)));
        String end = PagedListing.Page.of(found, PagedListing.PAGE, StoredRecord::name)
                .end();
        return new PagedListing.Page<>(
                found.stream().filter(each -> each.name().startsWith(prefix)).toList(), end);
    }

    /** A few at a time, now and then. */
    private void purge() {
        if (ThreadLocalRandom.current().nextInt(WRITES_PER_PURGE) != 0) {
            return;
        }
        try {
            List<Object> names = session.all(over, row -> dialect.name(dialect.name(row, 1)), List.of());
            if (!names.isEmpty()) {
                while (names.size() < PURGED_AT_ONCE) {
                    names.add(names.get(0)); // one statement is kept prepared for any number of them
                }
                session.update(remove, names);
            }
        } catch (SQLException later) {
            // What was to be written is written; a later write removes them.
        }
    }

    private Instant clock() throws SQLException {
        return moment(session.only(clock, row -> row.getLong(1)));
    }

    private StoredRecord stored(ResultSet row) throws SQLException {
        return new StoredRecord(
                dialect.name(row, 1), row.getLong(2), row.getLong(3), moment(row.getLong(4)), row.getString(5));
    }

    private static Instant moment(long micros) {
        return Instant.EPOCH.plusNanos(Math.multiplyExact(micros, 1_000L));
    }
}
