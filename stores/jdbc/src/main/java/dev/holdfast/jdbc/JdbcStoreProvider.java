package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreProvider;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Opens locks kept in a SQL database.
 *
 * <ul>
 *   <li>{@code sqlite:PATH}: a SQLite file on this machine, shared by its processes, for example
 *       {@code sqlite:locks.db} or {@code sqlite:/var/lib/app/locks.db}. The path is absolute or relative to the working
 *       directory; one that begins with {@code ~/} is refused, for nothing expands it. Directories that are missing are
 *       created for their owner alone, and so is the file, which belongs to Holdfast: no other tables live in it.
 *   <li>{@code jdbc:sqlite:PATH}: the same.
 *   <li>{@code jdbc:postgresql://HOST[:PORT]/DATABASE}, {@code jdbc:mariadb://…}, {@code jdbc:mysql://…},
 *       {@code jdbc:h2:…}: a table in that database. The driver's parameters go with it, and ours, which it does not
 *       see: {@link JdbcOptions}. The driver must be on the class path.
 * </ul>
 *
 * <p>All processes must use one copy of the SQLite driver each: a second copy inside one process (two class loaders)
 * would take away the file locks of the first, as <a href="https://sqlite.org/howtocorrupt.html">sqlite.org</a> tells.
 *
 * <p>Thread-safe.
 */
public final class JdbcStoreProvider implements StoreProvider {
    private static final String SQLITE = "sqlite:";
    private static final String JDBC = "jdbc:";
    private static final String GOOD_URLS = "write sqlite:locks.db or sqlite:/var/lib/app/locks.db";

    /** The provider; made by {@link java.util.ServiceLoader}. */
    public JdbcStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("sqlite", "jdbc");
    }

    /**
     * Opens the store of a URL.
     *
     * @throws IllegalArgumentException if the URL names no database that is supported, or no path; the message says what
     *     a good one looks like
     * @throws dev.holdfast.StoreRefusedException if the file or the database cannot be used: rights, another kind of
     *     file, a newer layout, a file system that is not known to be local, a proxy that pools transactions
     * @throws dev.holdfast.StoreUnavailableException if the file was blocked by another process for too long, the disk
     *     is full, or the server does not answer
     */
    @Override
    public Store open(String url, StoreContext context) {
        Optional<ServerUrl> server = ServerUrl.parse(url);
        if (server.isPresent()) {
            return open(server.get(), context);
        }
        return SqliteStore.open(new SqliteDialect(path(url), BootClock.local(), context.time()), context.time());
    }

    private static Store open(ServerUrl url, StoreContext context) {
        return ServerStore.open(
                url.dialect(),
                url.options(),
                new DriverConnections(url, context.password()),
                url.description(),
                context.time()::nanoTime,
                false);
    }

    static Path path(String url) {
        String rest = url;
        if (rest.regionMatches(true, 0, JDBC, 0, JDBC.length())) {
            rest = rest.substring(JDBC.length());
            if (!rest.regionMatches(true, 0, SQLITE, 0, SQLITE.length())) {
                throw new IllegalArgumentException(
                        "no such database is supported for locks; supported: " + ServerUrl.GOOD_URLS);
            }
        }
        if (!rest.regionMatches(true, 0, SQLITE, 0, SQLITE.length())) {
            throw new IllegalArgumentException(
                    "not the URL of a SQL database; supported: sqlite:PATH, jdbc:sqlite:PATH");
        }
        return checkedPath(rest.substring(SQLITE.length()));
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
            // A shell puts the home there in HOLDFAST_STORE=sqlite:~/x, not in --store sqlite:~/x: one name, two files.
            throw new IllegalArgumentException(
                    "'~' is not expanded in a SQLite URL; write the whole path, or sqlite:./~ for a folder named so");
        }
        if (text.indexOf('?') >= 0) {
            throw new IllegalArgumentException("a SQLite URL takes no options after '?'; " + GOOD_URLS);
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("a SQLite URL needs the path of a file; " + GOOD_URLS, e);
        }
    }
}
