package dev.holdfast.sqlite;

import dev.holdfast.StoreRefusedException;
import java.sql.SQLException;
import java.util.List;

/**
 * Creates the tables in a new file, checks them in an old one, and frees all locks after a restart of the machine.
 *
 * <p>A file that is in order is only read, so that it can be opened while another process blocks it.
 */
final class SqliteLayout {
    /** For locks: a commit reaches the disk soon. */
    static final String SYNCHRONOUS = "NORMAL";

    /** From this length of the log on, each commit waits until it is written back, if {@link SqliteLocks#atRest} never did. */
    private static final int MOST_PAGES_IN_LOG = 4000;

    private final SqliteSession session;
    private final SqliteFile file;
    private final BootClock machine;

    SqliteLayout(SqliteSession session, SqliteFile file, BootClock machine) {
        this.session = session;
        this.file = file;
        this.machine = machine;
    }

    /**
     * Makes the file ready.
     *
     * @param clock the machine's monotonic microseconds
     * @return whether the file is of this start of the machine; if not, its locks must be freed first
     */
    boolean prepare(SqliteClock clock) {
        return session.run("set up the locks", "", () -> {
            session.execute("PRAGMA synchronous = " + SYNCHRONOUS);
            session.execute("PRAGMA wal_autocheckpoint = " + MOST_PAGES_IN_LOG);
            boolean created = isCreated();
            requireLog(); // without it, an idle connection has no lock on the file, and goes unnoticed
            if (!created) {
                create(clock.micros());
            }
            return isOfThisBoot(clock);
        });
    }

    /** Frees all locks, unless that was done; on a connection that has the file alone. */
    void freeAll(SqliteClock clock) {
        session.run("free the locks", "", () -> {
            transaction(() -> freeAll(clock.micros()));
            return true;
        });
    }

    private boolean isCreated() throws SQLException {
        List<String> tables = session.all(SqliteSql.TABLES, row -> row.getString(1));
        if (tables.contains("holdfast_meta")) {
            return true;
        }
        if (!tables.isEmpty()) {
            throw refused(
                    "it holds the tables of something else (" + tables.get(0) + "); locks need a file of their own");
        }
        return false;
    }

    private void requireLog() throws SQLException {
        String mode = session.first("PRAGMA journal_mode = WAL", row -> row.getString(1))
                .orElse("");
        if (!mode.equals("wal")) {
            throw refused("its file system cannot do write-ahead logging (mode " + mode + "); name a path on another");
        }
    }

    private void create(long now) throws SQLException {
        transaction(() -> {
            if (!isCreated()) {
                session.execute(SqliteSql.CREATE_META);
                session.execute(SqliteSql.CREATE_LOCK);
                session.execute(SqliteSql.CREATE_CLAIM);
                session.update(SqliteSql.CREATE_META_ROW, SqliteSql.LAYOUT, machine.bootId(), now);
            }
        });
    }

    /** The clock is read after the row, because another process may have written the row just before. */
    private boolean isOfThisBoot(SqliteClock clock) throws SQLException {
        Meta meta = session.first(SqliteSql.META, row -> new Meta(row.getLong(1), row.getString(2), row.getLong(3)))
                .orElseThrow(() -> refused("its table holdfast_meta is empty, so it is unknown whether its locks are"
                        + " of this start of the machine; stop all processes that use it, then remove it together with"
                        + " its -wal and -shm: a new one is made"));
        if (meta.layout > SqliteSql.LAYOUT) {
            throw refused("it has layout " + meta.layout + " and this version of Holdfast knows layout "
                    + SqliteSql.LAYOUT + " at most; use the newer version");
        }
        if (!meta.bootId.equals(machine.bootId())) {
            return false;
        }
        if (meta.bootedAt > clock.micros()) {
            throw refused(
                    "the clock of this process is behind that of the one which made it; run both on this machine, on"
                            + " Java virtual machines whose System.nanoTime() is the machine's monotonic clock");
        }
        return true;
    }

    private void freeAll(long now) throws SQLException {
        String bootId = session.first(SqliteSql.META, row -> row.getString(2)).orElse("");
        if (!bootId.equals(machine.bootId())) {
            session.update(SqliteSql.FREE_ALL);
            session.update(SqliteSql.EMPTY_QUEUES);
            session.update(SqliteSql.NEW_BOOT, machine.bootId(), now);
        }
    }

    private void transaction(Work work) throws SQLException {
        session.execute("BEGIN IMMEDIATE");
        try {
            work.run();
            session.execute("COMMIT");
        } catch (Throwable e) {
            try {
                session.execute("ROLLBACK");
            } catch (SQLException ended) {
                e.addSuppressed(ended); // some failures, as a full disk, have ended the transaction
            }
            throw e;
        }
    }

    private StoreRefusedException refused(String why) {
        return new StoreRefusedException("cannot use sqlite:" + file.path() + ": " + why);
    }

    private record Meta(long layout, String bootId, long bootedAt) {}

    @FunctionalInterface
    private interface Work {
        void run() throws SQLException;
    }
}
