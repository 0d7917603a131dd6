package dev.holdfast.flashsale;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.flashsale.shop.Shop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where a sale keeps its locks, and its tickets and orders: in one database, or, where the store of the locks is none, in
 * a SQLite file of this machine beside it. Thread-safe.
 */
final class Storage implements AutoCloseable {
    /** Keeps the locks of the sale apart from those of an application in the same store. */
    static final String NAMESPACE = "holdfast-sale";

    private static final long LONGEST_WAIT = 2_000; // milliseconds, until the page is told that the database is away

    private final @Nullable String password = System.getenv("HOLDFAST_PASSWORD");
    private final Path folder;
    private final String store;
    private final Map<String, String> settings = new HashMap<>();
    private final HikariDataSource database;
    private final Shop shop;
    private final ReentrantLock changes = new ReentrantLock();
    private boolean closed;

    private Storage(@Nullable String store, Path folder) {
        this.folder = folder;
        this.store = store == null ? "sqlite:" + folder.resolve("locks.db") : store;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(databaseUrl());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(LONGEST_WAIT);
        settings.put("HOLDFAST_STORE", this.store);
        settings.put("HOLDFAST_NAMESPACE", NAMESPACE);
        settings.put("SPRING_DATASOURCE_URL", databaseUrl());
        if (password != null && this.store.startsWith("jdbc:")) {
            settings.put("SPRING_DATASOURCE_PASSWORD", password);
            config.setPassword(password);
        }
        database = new HikariDataSource(config);
        try {
            shop = new Shop(database);
        } catch (RuntimeException failure) {
            database.close();
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

    private String databaseUrl() {
        return store.startsWith("jdbc:")
                ? store.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:")
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
            database.close();
            remove(folder);
        }
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + folder, e);
        }
    }
}
