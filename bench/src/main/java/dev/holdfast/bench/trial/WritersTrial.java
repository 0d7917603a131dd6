package dev.holdfast.bench.trial;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Charts;
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
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many changes of one row a second a database makes when more and more writers want to change it, and what the ways to
 * keep them apart cost: each reads the row, thinks for a millisecond, and writes it.
 */
final class WritersTrial {
    private static final List<Integer> WRITERS = List.of(1, 2, 4, 8, 16, 32, 64);
    private static final Duration THOUGHT = Duration.ofMillis(1);
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final int MOST_WRITERS = 64;
    /** One for each writer, and one for a row that is new. */
    private static final int POOL = MOST_WRITERS + 2;

    private final HikariDataSource pool;
    private final LockClient client;
    private final JdbcLocks rows;
    private final OptimisticUpdate optimistic = OptimisticUpdate.byVersion("counter", "id", "version");
    private final AtomicLong lost = new AtomicLong();

    private WritersTrial(HikariDataSource pool, LockClient client) {
        this.pool = pool;
        this.client = client;
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
        for (StoreKind store : List.of(StoreKind.POSTGRESQL, StoreKind.MARIADB)) {
            try (Server server = Servers.start(store);
                    HikariDataSource pool = pool(server.url());
                    LockClient client = LockClient.connect(server.url())) {
                kept &= new WritersTrial(pool, client).run(store, each);
            } catch (ServerMissingException missing) {
                System.err.println(store.title() + " is left out: " + missing.getMessage());
            }
        }
        return kept;
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }

    private boolean run(StoreKind store, Duration each) throws Exception {
        execute("CREATE TABLE counter (id INT PRIMARY KEY, value BIGINT NOT NULL, version BIGINT NOT NULL)");
        execute("INSERT INTO counter VALUES (1, 0, 0)");
        DistributedLock lock = client.lock("counter:1");
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("optimistic update", this::optimistically);
        ways.put("row locked by FOR UPDATE", this::withTheRowLocked);
        ways.put("lock in the transaction", this::withALockInTheTransaction);
        ways.put("lease", () -> withALease(lock));
        Map<String, Map<Integer, Double>> changes = new LinkedHashMap<>();
        System.out.println("\n" + store.title() + ": changes a second (given up, % of those that were begun)\n");
        List<String> titles = new ArrayList<>(List.of("writers"));
        titles.addAll(ways.keySet());
        Trial.head(titles.toArray(String[]::new));
        for (int writers : WRITERS) {
            List<Object> cells = new ArrayList<>(List.of(writers));
            for (Map.Entry<String, Way> way : ways.entrySet()) {
                measure(way.getValue(), writers, WARM_UP);
                Outcome outcome = measure(way.getValue(), writers, each);
                changes.computeIfAbsent(way.getKey(), first -> new TreeMap<>()).put(writers, outcome.perSecond());
                cells.add(outcome.shown());
            }
            Trial.row(cells.toArray());
        }
        Charts.drawLines(
                Path.of("target", "bench"),
                "bench-" + store.id() + "-writers",
                store.title() + ": changes of one row, by writers that want to change it",
                "writers",
                "changes/s",
                changes);
        System.out.println("\nchanges that were reported and are not in the row: " + lost);
        return lost.get() == 0;
    }

    private record Outcome(long made, long givenUp, Duration taken) {
        double perSecond() {
            return made * 1e9 / taken.toNanos();
        }

        String shown() {
            double share = 100.0 * givenUp / Math.max(1, made + givenUp);
            return givenUp == 0 ? "%,.0f".formatted(perSecond()) : "%,.0f (%.0f %%)".formatted(perSecond(), share);
        }
    }

    private Outcome measure(Way way, int writers, Duration time) throws Exception {
        execute("UPDATE counter SET value = 0");
        AtomicLong made = new AtomicLong();
        AtomicLong givenUp = new AtomicLong();
        long begun = System.nanoTime();
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                all.add(threads.submit(() -> {
                    while (System.nanoTime() - begun < time.toNanos()) {
                        (way.change() ? made : givenUp).incrementAndGet();
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
        return new Outcome(made.get(), givenUp.get(), taken);
    }

    private boolean optimistically() throws SQLException, InterruptedException {
        return optimistic
                        .update(pool, 1, row -> {
                            long next = row.getLong("value") + 1;
                            Trial.pause(THOUGHT);
                            return Map.of("value", next);
                        })
                        .outcome()
                == OptimisticUpdate.Outcome.UPDATED;
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

    private boolean withALease(DistributedLock lock) throws SQLException, InterruptedException {
        try (Hold hold = lock.acquire();
                Connection connection = pool.getConnection()) {
            change(connection, "");
            return hold.isValid();
        }
    }

    private static void change(Connection connection, String suffix) throws SQLException {
        long next = value(connection, suffix) + 1;
        Trial.pause(THOUGHT);
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
