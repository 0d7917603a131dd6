package dev.holdfast.sqlite;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoreProvider;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Opens locks kept in a SQLite file on this machine, shared by its processes: {@code sqlite:PATH}, for example {@code
 * sqlite:locks.db} or {@code sqlite:/var/lib/app/locks.db}.
 *
 * <p>The path is absolute or relative to the working directory; one that begins with {@code ~/} is refused, because nothing
 * expands it. Directories that are missing are created for their owner alone, and so is the file, which belongs to
 * Holdfast: no other tables live in it.
 *
 * <p>All processes must use one copy of the SQLite driver each: a second copy inside one process (two class loaders)
 * would release the file locks of the first; see <a href="https://sqlite.org/howtocorrupt.html">sqlite.org</a>.
 *
 * <p>Thread-safe.
 */
public final class SqliteStoreProvider implements StoreProvider {
    private static final String SCHEME = "sqlite:";
    /** The colon of a drive of Windows is none of a log-in. */
    private static final Pattern LOG_IN = Pattern.compile("(?i)^(?![a-z]:[\\\\/]).*:.*@|;\\s*(?:user|password|key)=");

    private static final String GOOD_URLS = "write sqlite:locks.db or sqlite:/var/lib/app/locks.db";

    /** The provider; made by {@link java.util.ServiceLoader}. */
    public SqliteStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("sqlite");
    }

    /**
     * Opens the store of a URL.
     *
     * @throws IllegalArgumentException if the URL names no path; the message shows a correct one
     * @throws dev.holdfast.StoreRefusedException if the file cannot be used: rights, another kind of file, a newer layout,
     *     a file system that is not known to be local, a file with two names or one that is mounted alone, another boot id
     *     while a process has the file open
     * @throws dev.holdfast.StoreUnavailableException if the file was blocked by another process for too long, or the disk
     *     is full
     */
    @Override
    public Store open(String url, StoreContext context) {
        return SqliteStore.open(new SqliteDatabase(path(url), BootClock.local(), context.time()), context.time());
    }

    @Override
    public String describe(String url, StoreContext context) {
        return SqliteFile.description(path(url));
    }

    /** A fence in the table {@code holdfast_fence} of a file that a client has created; creates the table if it is missing. */
    @Override
    public StoreFence openFence(String url, Optional<String> password) {
        return new SqliteFence(path(url));
    }

    static Path path(String url) {
        if (!url.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw new IllegalArgumentException("not the URL of a SQLite file; " + GOOD_URLS);
        }
        return checkedPath(url.substring(SCHEME.length()));
    }

    private static Path checkedPath(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("a SQLite URL needs the path of a file; " + GOOD_URLS);
        }
        if (text.startsWith("//")) {
            throw new IllegalArgumentException(
                    "a SQLite URL has a path right after the colon, no slashes; " + GOOD_URLS);
        }
        if (text.startsWith(":") || text.startsWith("file:")) {
            throw new IllegalArgumentException("a SQLite URL names a plain file, neither :memory: nor file:; "
                    + GOOD_URLS + ", or mem: for locks of this process");
        }
        if (text.equals("~") || text.startsWith("~/")) {
            // A shell expands it in HOLDFAST_STORE=sqlite:~/x, not in --store sqlite:~/x: one name, two files.
            throw new IllegalArgumentException(
                    "'~' is not expanded in a SQLite URL; write the whole path, or sqlite:./~ for a folder named so");
        }
        if (text.contains("?mode=session")) {
            throw new IllegalArgumentException("SQLite has no sessions that could have locks: leave mode=session out; "
                    + "a lock of a process that has died is free when its lease ends. " + GOOD_URLS);
        }
        if (text.indexOf('?') >= 0) {
            throw new IllegalArgumentException("a SQLite URL takes no options after '?'; " + GOOD_URLS);
        }
        if (LOG_IN.matcher(text).find()) { // else a file would be named by a password, in messages and on the disk
            throw new IllegalArgumentException(
                    "a SQLite URL has no log-in, and a path no colon before an @; " + GOOD_URLS);
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("a SQLite URL needs the path of a file; " + GOOD_URLS, e);
        }
    }
}
