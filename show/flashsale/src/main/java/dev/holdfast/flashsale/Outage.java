package dev.holdfast.flashsale;

import dev.holdfast.testbed.TcpProxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the servers off from the store of the locks, and lets them return some seconds later. A store on this machine is
 * behind a proxy, which resets all connections and refuses new ones. The sale's own SQLite file is locked instead, so that
 * no other process can write to it. No other program is cut off. Thread-safe.
 */
final class Outage implements AutoCloseable {
    /** How long it lasts. */
    static final int SECONDS = 5;

    static final String NOT_POSSIBLE = "only a store on this machine can be cut off";

    private static final Pattern ON_THIS_MACHINE = Pattern.compile(
            "(redis|memcached|zk|etcd|jdbc:(?:postgresql|mariadb|mysql))://([^@/?,]*@)?(?:127\\.0\\.0\\.1|localhost)(?::(\\d{1,5}))?([/?].*)?");

    /** What stands between the servers and the store. */
    private interface Line extends AutoCloseable {
        void cut() throws SQLException;

        void mend() throws SQLException;

        @Override
        void close();
    }

    private final String url;
    private final @Nullable Line line;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "outage");
        thread.setDaemon(true);
        return thread;
    });
    private final ReentrantLock changes = new ReentrantLock();
    private boolean on; // from the order to cut until all is well again
    private boolean away;
    private int times;

    private Outage(String url, @Nullable Line line) {
        this.url = url;
        this.line = line;
    }

    /** Of a store with its URL; one on another machine cannot be cut off. */
    static Outage of(String store) {
        Matcher here = ON_THIS_MACHINE.matcher(store);
        if (!here.matches()) {
            return new Outage(store, null);
        }
        int port = here.group(3) == null ? usualPort(here.group(1)) : Integer.parseInt(here.group(3));
        TcpProxy proxy = TcpProxy.to(port);
        String user = here.group(2) == null ? "" : here.group(2);
        String rest = here.group(4) == null ? "" : here.group(4);
        return new Outage(here.group(1) + "://" + user + "127.0.0.1:" + proxy.port() + rest, new Wire(proxy));
    }

    /** Of a SQLite file that nobody else uses. */
    static Outage ofFile(Path file) {
        return new Outage("sqlite:" + file, new FileLock(file));
    }

    private static int usualPort(String scheme) {
        return switch (scheme) {
            case "redis" -> 6379;
            case "memcached" -> 11211;
            case "zk" -> 2181;
            case "etcd" -> 2379;
            case "jdbc:postgresql" -> 5432;
            default -> 3306;
        };
    }

    /** What the servers connect to. */
    String url() {
        return url;
    }

    /**
     * The outage as the page shows it.
     *
     * @param possible whether this store can be cut off
     * @param on whether it is being cut off, or is away
     * @param times how often it was, since the sale was opened
     */
    record Figures(boolean possible, boolean on, int times) {}

    Figures figures() {
        changes.lock();
        try {
            return new Figures(line != null, on, times);
        } finally {
            changes.unlock();
        }
    }

    /** Begins to count again. */
    void restart() {
        changes.lock();
        try {
            times = away ? 1 : 0;
        } finally {
            changes.unlock();
        }
    }

    /**
     * Cuts the servers off, for {@value #SECONDS} seconds from the moment at which the store is away.
     *
     * @param trouble is told if that fails
     */
    void begin(Consumer<String> trouble) {
        Line cut = line;
        if (cut == null) {
            throw new Refused(NOT_POSSIBLE, null);
        }
        changes.lock();
        try {
            Refused.unless(!on, "the store is cut off already");
            on = true;
        } finally {
            changes.unlock();
        }
        timer.execute(() -> cutAndMend(cut, trouble));
    }

    /** It counts when the store is away, not before. */
    private void cutAndMend(Line cut, Consumer<String> trouble) {
        try {
            cut.cut();
        } catch (SQLException failure) {
            set(false, false);
            trouble.accept("the store could not be cut off: " + failure.getMessage());
            return;
        }
        set(true, true);
        timer.schedule(() -> mend(cut, trouble), SECONDS, TimeUnit.SECONDS);
    }

    private void mend(Line cut, Consumer<String> trouble) {
        try {
            cut.mend();
        } catch (SQLException failure) {
            trouble.accept("the store may still be cut off: " + failure.getMessage());
        } finally {
            set(false, false);
        }
    }

    private void set(boolean on, boolean away) {
        changes.lock();
        try {
            this.on = on;
            this.away = away;
            times += away ? 1 : 0;
        } finally {
            changes.unlock();
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
        if (line != null) {
            line.close();
        }
    }

    private record Wire(TcpProxy proxy) implements Line {
        @Override
        public void cut() {
            proxy.refuse();
            proxy.cut();
        }

        @Override
        public void mend() {
            proxy.accept();
        }

        @Override
        public void close() {
            proxy.close();
        }
    }

    /** Used by the timer's thread alone. */
    private static final class FileLock implements Line {
        private static final String PATIENTLY = "?busy_timeout=4000";
        private final Path file;
        private @Nullable Connection connection;

        FileLock(Path file) {
            this.file = file;
        }

        @Override
        public void cut() throws SQLException {
            Connection opened = DriverManager.getConnection("jdbc:sqlite:" + file + PATIENTLY);
            try (Statement statement = opened.createStatement()) {
                statement.execute("BEGIN IMMEDIATE"); // the one who writes; readers still see what was written before
            } catch (SQLException busy) {
                opened.close();
                throw busy;
            }
            connection = opened;
        }

        @Override
        public void mend() throws SQLException {
            Connection opened = connection;
            if (opened != null) {
                connection = null;
                opened.close(); // its transaction is rolled back
            }
        }

        @Override
        public void close() {
            // The servers end with the sale, and the file is removed.
        }
    }
}
