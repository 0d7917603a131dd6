package dev.holdfast.flashsale;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.shop.Shop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * Where a sale keeps its locks, and its tickets and orders: in one database, or, where the store of the locks is none, in
 * a SQLite file of this machine beside it. Thread-safe.
 */
final class Storage implements AutoCloseable {
    /** Keeps the locks of the sale apart from those of an application in the same store. */
    static final String NAMESPACE = "holdfast-sale";

    // ZooKeeper knows sessions in place of leases; a server is stopped for longer than one
    private static final String SESSION = "6s";
    private static final Pattern SESSION_OF_URL = Pattern.compile("[?&]session=([^&]*)");
    private static final Duration LONGER = Duration.ofSeconds(4); // than a session, which may end a tick late

    private static final long LONGEST_WAIT = 2_000; // milliseconds, until the page is told that the database is away

    private final @Nullable String password = System.getenv("HOLDFAST_PASSWORD");
    private final Path folder;
    private final String store;
    private final Outage outage;
    private final Map<String, String> settings = new HashMap<>();
    private final HikariDataSource database;
    private final Shop shop;
    private final ReentrantLock changes = new ReentrantLock();
    private boolean closed;

    private Storage(@Nullable String store, Path folder) {
        this.folder = folder;
        Path locks = folder.resolve("locks.db");
        this.store = store == null ? "sqlite:" + locks : withSession(store);
        if (this.store.startsWith("zk:")) {
            settings.put("SALE_PAUSE_SECONDS", Double.toString(pause(this.store).toMillis() / 1e3));
        } else if (this.store.startsWith(
                "memcached:")) { // the shortest lease there, which its item outlives by two seconds
            settings.put("HOLDFAST_HOLD_LEASE", "3s");
            settings.put("SALE_PAUSE_SECONDS", "6");
        }
        outage = store == null ? Outage.ofFile(locks) : Outage.of(this.store);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(databaseUrl(this.store)); // not cut off: the page sees what goes on
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(LONGEST_WAIT);
        settings.put("HOLDFAST_STORE", outage.url());
        settings.put("HOLDFAST_NAMESPACE", NAMESPACE);
        settings.put("SPRING_DATASOURCE_URL", databaseUrl(outage.url()));
        if (password != null && this.store.startsWith("jdbc:")) {
            settings.put("SPRING_DATASOURCE_PASSWORD", password);
            config.setPassword(password);
        }
        try {
            database = new HikariDataSource(config);
        } catch (RuntimeException failure) {
            outage.close();
            throw failure;
        }
        try {
            shop = new Shop(database);
        } catch (RuntimeException failure) {
            database.close();
            outage.close();
            throw failure;
        }
    }

    /** On a store, or in files of its own; nothing is created in a database yet. */
    static Storage on(@Nullable String store) throws IOException {
        Path folder = Files.createTempDirectory("holdfast-sale-");
        try {
            return new Storage(store, folder);
        } catch (RuntimeException failure) {
            remove(folder);
            throw failure;
        }
    }

    private static String withSession(String store) {
        return !store.startsWith("zk:") || SESSION_OF_URL.matcher(store).find()
                ? store
                : store + (store.contains("?") ? "&" : "?") + "session=" + SESSION;
    }

    /** How long a server is stopped on ZooKeeper: for longer than the session that the URL asks for. */
    static Duration pause(String store) {
        Matcher session = SESSION_OF_URL.matcher(store);
        return DurationStyle.SIMPLE
                .parse(session.find() ? session.group(1) : SESSION)
                .plus(LONGER);
    }

    private String databaseUrl(String url) {
        return url.startsWith("jdbc:")
                ? url.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:")
                : "jdbc:sqlite:" + folder.resolve("shop.db")
                        + "?journal_mode=WAL&synchronous=NORMAL&busy_timeout=10000&transaction_mode=IMMEDIATE";
    }

    /** The URL of the store of the locks. */
    String store() {
        return store;
    }

    @Nullable
    String password() {
        return password;
    }

    /** What a server needs to know, as variables of its process. */
    Map<String, String> settings() {
        return Map.copyOf(settings);
    }

    /** What cuts the servers off from the store. */
    Outage outage() {
        return outage;
    }

    /** The guards that notice when the store is cut off; none where it cannot be. */
    List<String> cuttable() {
        return outage.figures().possible()
                ? Guards.on(store).stream()
                        .filter(guard -> Guards.needsStore(guard, store))
                        .toList()
                : List.of();
    }

    /** Refuses to cut off a store that cannot be, or which that guard would not miss. */
    void requireCuttable(String guard) {
        Refused.unless(outage.figures().possible(), Outage.NOT_POSSIBLE);
        Refused.unless(cuttable().contains(guard), "guard '" + guard + "' does not use the store that is cut off");
    }

    Shop shop() {
        return shop;
    }

    /**
     * Creates the tables.
     *
     * @throws IllegalStateException if one of them is there already, or this is closed
     */
    void createTables() {
        changes.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the sale has ended");
            }
            shop.createTables();
        } finally {
            changes.unlock();
        }
    }

    /**
     * Removes what was created, also by a start that goes on.
     *
     * @throws IllegalStateException if tables remain; it names them
     */
    @Override
    public void close() {
        changes.lock();
        try {
            if (!closed) {
                closed = true;
                removeAll();
            }
        } finally {
            changes.unlock();
        }
    }

    private void removeAll() {
        try {
            shop.dropTables();
        } finally {
            outage.close();
            database.close();
            remove(folder);
        }
    }

    /** Deletes a folder with all that is in it. */
    static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + folder, e);
        }
    }
}
