package dev.holdfast.bench.trial;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Charts;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.jdbc.JdbcLocks;
import dev.holdfast.jdbc.OptimisticUpdate;
import dev.holdfast.testbed.ServerMissingException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many changes of one row a second a database makes when more and more writers want to change it, by each of the five
 * ways to keep them apart: each writer reads the row, thinks for a millisecond, and writes it. An optimistic update also
 * counts its attempts, since those that end in a conflict are work for nothing.
 */
final class WritersTrial {
    private static final String OPTIMISTIC = "optimistic update";
    private static final List<Integer> WRITERS = List.of(1, 2, 4, 8, 16, 32, 64);
    private static final Duration THOUGHT = Duration.ofMillis(1);
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final int MOST_WRITERS = 64;
    /** One for each writer, and one for a row that is new. */
    private static final int POOL = MOST_WRITERS + 2;

    private final HikariDataSource pool;
    private final DistributedLock lease;
    private final DistributedLock session;
    private final JdbcLocks rows;
    private final OptimisticUpdate optimistic = OptimisticUpdate.byVersion("counter", "id", "version");
    private final AtomicLong attempts = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();

    private WritersTrial(HikariDataSource pool, LockClient leases, LockClient sessions) {
        this.pool = pool;
        this.lease = leases.lock("counter:1");
        this.session = sessions.lock("counter:1");
        this.rows = JdbcLocks.on(pool);
    }

    /** One change; false if it was given up. */
    private interface Way {
        boolean change() throws Exception;
    }

    /** Runs it on PostgreSQL and MariaDB; whether every change that was reported is in the row. */
    static boolean run(Duration each) throws Exception {
        Trial.describe("writers that read one row, think for 1 ms and write it, " + each.toSeconds() + " s each");
        boolean kept = true;
        Map<String, Map<Integer, Double>> attempts = new LinkedHashMap<>();
        for (StoreKind store : List.of(StoreKind.POSTGRESQL, StoreKind.MARIADB)) {
            try (Server server = Servers.start(store);
                    HikariDataSource pool = pool(server.url());
                    LockClient leases = LockClient.connect(server.url());
                    LockClient sessions = LockClient.connect(server.url() + "&mode=session")) {
                WritersTrial trial = new WritersTrial(pool, leases, sessions);
                attempts.put(store.title(), trial.run(store, each));
                kept &= trial.lost.get() == 0;
            } catch (ServerMissingException missing) {
                System.err.println(store.title() + " is left out: " + missing.getMessage());
            }
        }
        Map<Integer, Double> once = new TreeMap<>();
        WRITERS.forEach(writers -> once.put(writers, 1.0));
        attempts.put("under any lock", once);
        Charts.drawLines(
                Path.of("target", "bench"),
                "bench-writers-attempts",
                "An optimistic update: attempts for each change of one row",
                "attempts",
                "writers",
                attempts);
        return kept;
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }

    /** Prints a table; returns how many attempts an optimistic update takes, by writers. */
    private Map<Integer, Double> run(StoreKind store, Duration each) throws Exception {
        execute("CREATE TABLE counter (id INT PRIMARY KEY, value BIGINT NOT NULL, version BIGINT NOT NULL)");
        execute("INSERT INTO counter VALUES (1, 0, 0)");
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("row locked by FOR UPDATE", this::withTheRowLocked);
        ways.put("lock in the transaction", this::withALockInTheTransaction);
        ways.put("lease", () -> under(lease));
        ways.put("session", () -> under(session));
        ways.put(OPTIMISTIC, this::optimistically);
        System.out.println("\n" + store.title() + ": changes a second (99th percentile of one change, ms)\n");
        List<String> titles = new ArrayList<>(List.of("writers"));
        titles.addAll(ways.keySet());
        titles.addAll(List.of("its attempts for each change", "given up, %"));
        Trial.head(titles.toArray(String[]::new));
        Map<Integer, Double> attemptsByWriters = new TreeMap<>();
        for (int writers : WRITERS) {
            List<Object> cells = new ArrayList<>(List.of(writers));
            for (Map.Entry<String, Way> way : ways.entrySet()) {
                measure(way.getValue(), writers, WARM_UP);
                attempts.set(0);
                Outcome outcome = measure(way.getValue(), writers, each);
                cells.add(outcome.shown());
                if (way.getKey().equals(OPTIMISTIC)) {
                    double forEach = (double) attempts.get() / Math.max(1, outcome.made());
                    attemptsByWriters.put(writers, forEach);
                    cells.add("%.1f".formatted(forEach));
                    cells.add("%.1f".formatted(outcome.shareGivenUp()));
                }
            }
            Trial.row(cells.toArray());
        }
        System.out.println("\nchanges that were reported and are not in the row: " + lost);
        return attemptsByWriters;
    }

    private record Outcome(long made, long begun, Duration taken, List<Long> nanos) {
        double shareGivenUp() {
            return 100.0 * (begun - made) / Math.max(1, begun);
        }

        String shown() {
            return "%,.0f (%s)".formatted(made * 1e9 / taken.toNanos(), Trial.millis(nanos, 0.99));
        }
    }

    private Outcome measure(Way way, int writers, Duration time) throws Exception {
        execute("UPDATE counter SET value = 0");
        AtomicLong made = new AtomicLong();
        Queue<Long> nanos = new ConcurrentLinkedQueue<>();
        long begun = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                all.add(threads.submit(() -> {
                    while (System.nanoTime() - begun < time.toNanos()) {
                        long since = System.nanoTime();
                        if (way.change()) {
                            made.incrementAndGet();
                        }
                        nanos.add(System.nanoTime() - since);
                    }
                    return true;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            threads.shutdown();
        }
        Duration taken = Duration.ofNanos(System.nanoTime() - begun);
        try (Connection connection = pool.getConnection()) {
            lost.addAndGet(Math.abs(made.get() - value(connection, "")));
        }
        return new Outcome(made.get(), nanos.size(), taken, List.copyOf(nanos));
    }

    private boolean optimistically() throws SQLException, InterruptedException {
        OptimisticUpdate.Result result = optimistic.update(pool, 1, row -> {
            long next = row.getLong("value") + 1;
            Schedule.pause(THOUGHT);
            return Map.of("value", next);
        });
        attempts.addAndGet(result.attempts());
        return result.outcome() == OptimisticUpdate.Outcome.UPDATED;
    }

    private boolean withTheRowLocked() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            change(connection, " FOR UPDATE");
            connection.commit();
        }
        return true;
    }

    private boolean withALockInTheTransaction() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            rows.inTransaction(connection).lock("counter:1");
            change(connection, "");
            connection.commit();
        }
        return true;
    }

    private boolean under(DistributedLock lock) throws SQLException, InterruptedException {
        try (Hold hold = lock.acquire();
                Connection connection = pool.getConnection()) {
            change(connection, "");
            return hold.isValid();
        }
    }

    private static void change(Connection connection, String suffix) throws SQLException {
        long next = value(connection, suffix) + 1;
        Schedule.pause(THOUGHT);
        try (Statement update = connection.createStatement()) {
            update.executeUpdate("UPDATE counter SET value = " + next + " WHERE id = 1");
        }
    }

    private static long value(Connection connection, String suffix) throws SQLException {
        try (Statement select = connection.createStatement();
                ResultSet row = select.executeQuery("SELECT value FROM counter WHERE id = 1" + suffix)) {
            row.next();
            return row.getLong(1);
        }
    }

    private void execute(String statement) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement all = connection.createStatement()) {
            all.execute(statement);
        }
    }
}
