package dev.holdfast.sqlite;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.awaitility.Awaitility;

/** Stores on one file, on a machine whose clock can be moved and that can be started anew. */
final class Rig implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Holder HOLDER = new Holder("host", 7, "main", "label");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    static {
        Awaitility.setDefaultTimeout(TIMEOUT); // on a busy machine its ten seconds are few
    }

    final Path file;
    final Time time = new Time();
    private final AtomicLong skew = new AtomicLong();
    private volatile LongSupplier clock = System::nanoTime;
    private final Deque<SqliteStore> stores = new ArrayDeque<>();
    String bootId = "first boot";

    Rig(Path folder) {
        this.file = folder.resolve("locks.db");
    }

    SqliteStore open() {
        return open(Duration.ofSeconds(10));
    }

    SqliteStore open(Duration limit) {
        SqliteStore store = SqliteStore.open(database(), time, limit);
        stores.push(store);
        return store;
    }

    SqliteDatabase database() {
        return new SqliteDatabase(file, machine(), time);
    }

    BootClock machine() {
        return new BootClock(bootId, () -> clock.getAsLong() + skew.get());
    }

    /** Moves the machine's monotonic clock, for all stores of this rig. */
    void pass(Duration by) {
        skew.addAndGet(by.toNanos());
    }

    /** From now on the machine's clock moves only by {@link #pass}, though a busy machine takes its time. */
    void freeze() {
        long now = System.nanoTime();
        clock = () -> now;
    }

    /** The clock starts anew, and everything that ran is gone. */
    void reboot() {
        close();
        bootId = "another boot";
        skew.set(-System.nanoTime());
    }

    static Claim claim(String name) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, LEASE, false, 0, HOLDER);
    }

    static Claim waiting(String name) {
        return waiting(claim(name));
    }

    static Claim waiting(Claim c) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), true, c.floor(), c.holder());
    }

    static Claim mode(Claim c, Mode mode) {
        return new Claim(c.id(), c.name(), mode, c.lease(), c.waits(), c.floor(), c.holder());
    }

    static Claim lease(Claim c, Duration lease) {
        return new Claim(c.id(), c.name(), c.mode(), lease, c.waits(), c.floor(), c.holder());
    }

    static Claim floor(Claim c, long floor) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), c.waits(), floor, c.holder());
    }

    static Optional<Grant> attempt(SqliteStore store, String name) {
        return get(Asked.of(store, claim(name)).answer());
    }

    static Grant hold(SqliteStore store, String name) {
        return attempt(store, name).orElseThrow(() -> new AssertionError("'" + name + "' is not free"));
    }

    static boolean release(SqliteStore store, Grant grant) {
        return get(store.release(grant));
    }

    static int waiters(SqliteStore store, String name) {
        return get(store.status(name)).waiting();
    }

    /** The answer; a failure is thrown as it is. */
    static <T> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }

    /** Runs SQL on a connection of its own; the first column of all rows. */
    List<String> sql(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            List<String> found = new ArrayList<>();
            for (String sql : statements) {
                if (statement.execute(sql)) {
                    try (ResultSet rows = statement.getResultSet()) {
                        while (rows.next()) {
                            found.add(rows.getString(1));
                        }
                    }
                }
            }
            return found;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + file);
    }

    @Override
    public void close() {
        for (SqliteStore store = stores.poll(); store != null; store = stores.poll()) {
            store.close();
        }
    }

    /** A client's time: it runs seven hours ahead of the machine's, so that mixing them up is found out. */
    static final class Time implements TimeSource {
        private static final long AHEAD = TimeUnit.HOURS.toNanos(7);
        final AtomicLong wallSkew = new AtomicLong();
        final Deque<Runnable> scheduled = new ArrayDeque<>();

        @Override
        public long nanoTime() {
            return System.nanoTime() + AHEAD;
        }

        @Override
        public long wallMillis() {
            return System.currentTimeMillis() + wallSkew.get();
        }

        /** Kept until the test runs it. */
        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            scheduled.add(task);
            return () -> scheduled.remove(task);
        }
    }
}
