package dev.holdfast.sqlite;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.sql.SQLException;
import org.sqlite.NativeLibraryNotFoundException;
import org.sqlite.SQLiteErrorCode;

/**
 * What SQLite's <a href="https://sqlite.org/rescode.html">result codes</a> mean for a lock, and what to do about them.
 * The driver's {@link SQLException#getErrorCode()} is the primary code, without the extension.
 */
final class SqliteErrors {
    private SqliteErrors() {}

    /**
     * Whether nothing was done because another connection used the file; the same statement may be tried again.
     * {@code SQLITE_PROTOCOL} is a reader that lost the race for the write-ahead log too often.
     */
    static boolean isBusy(Throwable failure) {
        return failure instanceof SQLException e
                && (is(e, SQLiteErrorCode.SQLITE_BUSY)
                        || is(e, SQLiteErrorCode.SQLITE_LOCKED)
                        || is(e, SQLiteErrorCode.SQLITE_PROTOCOL));
    }

    /**
     * The exception for callers.
     *
     * @param action what was tried, on what: {@code cannot claim 'x' on sqlite:/a/b}
     * @param busyTimeout how long it was tried when the file was busy
     */
    static HoldfastException explain(String action, BusyTimeout busyTimeout, SQLException e) {
        if (isBusy(e)) {
            return new StoreUnavailableException(
                    action + ": another process has blocked the file for " + busyTimeout.seconds()
                            + " s; find the process that is stopped or stuck, and let it continue or end",
                    e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_FULL)) {
            return new StoreUnavailableException(action + ": the disk is full; free some space", e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_IOERR) || is(e, SQLiteErrorCode.SQLITE_NOMEM)) {
            return new StoreUnavailableException(
                    action + ": reading or writing failed (" + e.getMessage()
                            + "); check the disk, its space and limits",
                    e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_NOTADB)) {
            return new StoreRefusedException(action + ": the file is not a SQLite database; name another", e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_CORRUPT)) {
            return new StoreRefusedException(
                    action
                            + ": the file is damaged; stop all who use it, then remove it together with its -wal and -shm",
                    e);
        }
        return explainRights(action, e);
    }

    private static HoldfastException explainRights(String action, SQLException e) {
        if (is(e, SQLiteErrorCode.SQLITE_READONLY)
                || is(e, SQLiteErrorCode.SQLITE_PERM)
                || is(e, SQLiteErrorCode.SQLITE_AUTH)) {
            return new StoreRefusedException(
                    action + ": the file may not be written; check its rights, its directory's and the file system's",
                    e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_CANTOPEN)) {
            return new StoreRefusedException(
                    action
                            + ": the file, or the -wal and -shm beside it, cannot be opened; check the directory's rights"
                            + " and how many files the process may open",
                    e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_CONSTRAINT)) {
            return new StoreRefusedException(
                    action + ": its tables were changed by something else (" + e.getMessage()
                            + "); stop all processes that use it, then remove it together with its -wal and -shm",
                    e);
        }
        if (is(e, SQLiteErrorCode.SQLITE_ERROR) || is(e, SQLiteErrorCode.SQLITE_MISMATCH)) {
            return new StoreRefusedException(
                    action + ": its tables have another shape than Holdfast's (" + e.getMessage()
                            + "); name another file",
                    e);
        }
        if (e.getCause() instanceof NativeLibraryNotFoundException) {
            return new StoreRefusedException(
                    action
                            + ": SQLite's native library cannot be loaded; point -Dorg.sqlite.tmpdir to a directory where"
                            + " libraries may be written and run, or add the driver's library for this machine",
                    e);
        }
        return new StoreUnavailableException(action + ": " + e.getMessage() + "; try again", e);
    }

    private static boolean is(SQLException e, SQLiteErrorCode code) {
        return (e.getErrorCode() & 0xff) == code.code;
    }
}
