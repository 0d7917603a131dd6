package dev.holdfast.sqlite;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.PagedListing;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The records of a file, in a table of their own, created when the first is written. Their clock is the machine's wall
 * clock: a record must be understood after the machine was restarted.
 *
 * <p>A power cut that undoes a lock does no harm: a reboot frees all locks. A record serves the time after a reboot, so it
 * is on the disk before its write is answered. For one thread.
 */
final class SqliteRecords {
    private static final String CREATE = """
            CREATE TABLE IF NOT EXISTS holdfast_record (
              name TEXT NOT NULL PRIMARY KEY,
              token INTEGER NOT NULL,
              revision INTEGER NOT NULL,
              written_at INTEGER NOT NULL,
              keep_until INTEGER NOT NULL,
              content TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""";

    private static final String CREATE_INDEX =
            "CREATE INDEX IF NOT EXISTS holdfast_record_until ON holdfast_record (keep_until)";

    /** Milliseconds since 1970. */
    private static final String NOW = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";

    private static final String COLUMNS = "SELECT token, revision, written_at, content, name FROM holdfast_record";
    private static final String READ_NOW = "SELECT " + NOW;
    /** The index is created last, so the table is complete if the index exists. */
    private static final String IS_MADE =
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'holdfast_record_until'";

    private static final String ON_DISK = "PRAGMA synchronous = FULL";
    private static final String ON_DISK_SOON = "PRAGMA synchronous = " + SqliteLayout.SYNCHRONOUS;
    private static final String READ = COLUMNS + " WHERE name = ?1 AND keep_until > ?2";
    private static final String LIST =
            COLUMNS + " WHERE name > ?1 AND substr(name, 1, length(?2)) = ?2 AND keep_until > " + NOW
                    + " ORDER BY name LIMIT " + PagedListing.PAGE;

    /**
     * ?1 name, ?2 token, ?3 expected revision, ?4 time to keep, ?5 value; replaces an older record or adds one. A
     * removed record stays absent, whatever the clock is set to later.
     */
    private static final String WRITE = "INSERT INTO holdfast_record"
            + " SELECT ?1, ?2, (SELECT floor + 1 FROM holdfast_meta), " + NOW + ", CASE ?4 WHEN 0 THEN 0 ELSE " + NOW
            + " + ?4 END, ?5"
            + " WHERE ?3 <= 0 OR EXISTS (SELECT 1 FROM holdfast_record WHERE name = ?1)"
            + " ON CONFLICT (name) DO UPDATE SET"
            + " token = excluded.token,"
            + " revision = revision + 1,"
            + " written_at = excluded.written_at, keep_until = excluded.keep_until, content = excluded.content"
            + " WHERE CASE WHEN keep_until > " + NOW
            + " THEN token <= excluded.token AND ?3 IN (-1, revision) ELSE ?3 <= 0 END";

    private static final String EXPIRED = "SELECT name FROM holdfast_record WHERE keep_until <= " + NOW + " LIMIT 100";
    /** First, so that the next record of a removed name has a higher revision, whatever the clock is set to. */
    private static final String RAISE_FLOOR =
            "UPDATE holdfast_meta SET floor = max(floor, coalesce((SELECT max(revision)"
                    + " FROM holdfast_record WHERE keep_until <= " + NOW + "), 0))";

    private static final String REMOVE = "DELETE FROM holdfast_record WHERE name = ?1 AND keep_until <= " + NOW
            + " AND revision <= (SELECT floor FROM holdfast_meta)";
    private static final int WRITES_PER_PURGE = 16;

    private final SqliteSession session;
    private boolean made;

    SqliteRecords(SqliteSession session) {
        this.session = session;
    }

    RecordReading read(String name) {
        return session.run("read the record of", name, () -> readNow(name));
    }

    private RecordReading readNow(String name) throws SQLException {
        long now = session.number(READ_NOW);
        if (!isMade()) {
            return new RecordReading(Instant.ofEpochMilli(now), Optional.empty());
        }
        return new RecordReading(Instant.ofEpochMilli(now), session.first(READ, SqliteRecords::stored, name, now));
    }

    Optional<StoredRecord> write(RecordWrite write) {
        String name = write.name();
        session.run("write the record of", name, () -> {
            if (!isMade()) {
                session.execute(CREATE);
                session.execute(CREATE_INDEX);
            }
            return true;
        });
        boolean admitted = session.run("write the record of", name, () -> writeToDisk(write));
        if (!admitted) {
            return Optional.empty();
        }
        purge();
        RecordReading now = read(name);
        return Optional.of(now.after(write));
    }

    private boolean writeToDisk(RecordWrite write) throws SQLException {
        session.execute(ON_DISK);
        try {
            return session.update(
                            WRITE, write.name(), write.token(), write.revision(), write.keepMillis(), write.value())
                    > 0;
        } finally {
            session.execute(ON_DISK_SOON);
        }
    }

    PagedListing.Page<StoredRecord> list(String prefix, String after) {
        List<StoredRecord> found = session.run(
                "list the records of",
                prefix,
                () -> isMade() ? session.all(LIST, SqliteRecords::stored, after, prefix) : List.of());
        return PagedListing.Page.of(found, PagedListing.PAGE, StoredRecord::name);
    }

    /** Removes a few expired records now and then. A failure is not reported: the new record is written. */
    private void purge() {
        if (ThreadLocalRandom.current().nextInt(WRITES_PER_PURGE) != 0) {
            return;
        }
        try {
            session.run("remove old records", "", () -> {
                List<String> names = session.all(EXPIRED, row -> row.getString(1));
                if (!names.isEmpty()) {
                    session.update(RAISE_FLOOR);
                }
                for (String name : names) {
                    session.update(REMOVE, name);
                }
                return true;
            });
        } catch (HoldfastException busy) {
            // a later write tries again
        }
    }

    private boolean isMade() throws SQLException {
        made = made || session.number(IS_MADE) > 0;
        return made;
    }

    private static StoredRecord stored(ResultSet row) throws SQLException {
        return new StoredRecord(
                row.getString(5),
                row.getLong(1),
                row.getLong(2),
                Instant.ofEpochMilli(row.getLong(3)),
                row.getString(4));
    }
}
