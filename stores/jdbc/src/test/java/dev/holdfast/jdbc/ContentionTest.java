package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many clients want the same 64 locks, on servers with their own default isolation and with another. For as many seconds as
 * the property {@code holdfast.contention.seconds} says.
 */
@Tag("thorough")
class ContentionTest {
    private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("holdfast.contention.seconds", 2));
    private static final int NAMES = 64;
    private static final int CLIENTS = 4;
    private static final int THREADS = 8;

    private final LongAdder turns = new LongAdder();
    private final AtomicInteger overlaps = new AtomicInteger();
    private final List<AtomicInteger> inside = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read"})
    void leavesNoErrorInTheLogOfPostgres(String isolation) throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start(
                "-c", "default_transaction_isolation=" + isolation, "-c", "max_connections=100"))) {
            long made = makeTable(server, server.jdbcUrl());
            contend(server.jdbcUrl());
            assertQuiet(isolation, server, made, "ERROR|FATAL|PANIC|deadlock");
            assertThat(Sql.number(server.jdbcUrl(), "SELECT sum(deadlocks) FROM pg_stat_database"))
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"READ-COMMITTED", "REPEATABLE-READ"})
    void leavesNoErrorInTheLogOfMariaDb(String isolation) throws Exception {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start(
                "--transaction-isolation=" + isolation, "--innodb-print-all-deadlocks=ON", "--log-warnings=4"))) {
            long made = makeTable(server, server.jdbcUrl());
            contend(server.jdbcUrl());
            assertQuiet(isolation, server, made, "(?i)deadlock|duplicate|\\[ERROR]");
            assertThat(Sql.number(server.jdbcUrl(), status("INNODB_DEADLOCKS"))).isZero();
        }
    }

    /** The lines of the log by then: who looks for a table that is missing is told so. */
    private static long makeTable(LocalServer server, String url) {
        LockClient.connect(url).close();
        return server.process().log().lines().count();
    }

    private void contend(String url) throws Exception {
        for (int i = 0; i < NAMES; i++) {
            inside.add(new AtomicInteger());
        }
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(LockClient.connect(url));
            }
            long end = System.nanoTime() + TIME.toNanos();
            List<CompletableFuture<Boolean>> all =
                    ServerCases.together(CLIENTS * THREADS, i -> work(clients.get(i % CLIENTS), end));
            all.forEach(CompletableFuture::join);
        } finally {
            clients.forEach(LockClient::close);
        }
        assertThat(overlaps).as("two in one lock").hasValue(0);
        assertThat(turns.sum()).as("turns").isGreaterThan(NAMES);
    }

    /** Half the turns try, half wait; without hand-over, so that every turn is the database's. */
    private boolean work(LockClient client, long end) throws InterruptedException {
        HoldOptions options = HoldOptions.defaults().strictFifo(true);
        while (System.nanoTime() - end < 0) {
            int which = ThreadLocalRandom.current().nextInt(NAMES);
            var lock = client.lock("contended:" + which, options);
            Hold hold = ThreadLocalRandom.current().nextBoolean()
                    ? lock.acquire()
                    : lock.tryAcquire().orElse(null);
            if (hold != null) {
                overlaps.addAndGet(inside.get(which).getAndIncrement());
                if (turns.sum() % 4 == 0) {
                    ServerCases.linger();
                }
                turns.increment();
                inside.get(which).decrementAndGet();
                hold.close();
            }
        }
        return true;
    }

    private void assertQuiet(String isolation, LocalServer server, long from, String errors) {
        List<String> lines = server.process().log().lines().toList();
        assertThat(lines).as("the server's log").isNotEmpty();
        Pattern error = Pattern.compile(errors);
        assertThat(lines.stream().skip(from).filter(line -> error.matcher(line).find()))
                .isEmpty();
        System.getLogger("dev.holdfast.jdbc")
                .log(System.Logger.Level.INFO, TIME + " of contention, " + isolation + ": " + turns.sum() + " turns");
    }

    private static String status(String variable) {
        return "SELECT CAST(variable_value AS INT) FROM information_schema.global_status WHERE variable_name = '"
                + variable + "'";
    }
}
