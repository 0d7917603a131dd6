package dev.holdfast.docs;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientStatistics;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.LockStatus;
import dev.holdfast.Loss;
import dev.holdfast.TokenGate;
import dev.holdfast.jdbc.JdbcFence;
import dev.holdfast.jdbc.JdbcLocks;
import dev.holdfast.jdbc.JdbcStores;
import dev.holdfast.jdbc.OptimisticUpdate;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.redis.RedisFence;
import dev.holdfast.redis.RedisStores;
import dev.holdfast.testbed.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The snippets of the documentation, run. {@link PagesTest} keeps the pages equal to what stands here. */
@Timeout(120)
class SnippetsTest {
    @TempDir
    private static Path folder;

    private final Orders orders = new Orders();
    private final Ledger ledger = new Ledger();

    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final DistributedLock lock = client.lock("order:42");

    @Test
    void first() throws InterruptedException {
        String file = "sqlite:" + folder.resolve("locks.db");
        // @formatter:off
        // snippet first, with "sqlite:locks.db" for file
        try (LockClient client = LockClient.connect(file)) {
            DistributedLock lock = client.lock("order:42");

            try (Hold hold = lock.acquire()) {      // waits its turn; renewed while open
                orders.charge(42, hold.token());    // the fencing token: strictly rising per lock
            }                                       // a hold that was lost says so here, never silently
        }
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(1);
    }

    @Test
    void trying() throws InterruptedException {
        // @formatter:off
        // snippet try
        Optional<Hold> now = lock.tryAcquire();                         // asks once
        Optional<Hold> soon = lock.tryAcquire(Duration.ofSeconds(2));   // waits in the queue
        // end
        // @formatter:on
        assertThat(now).isPresent();
        assertThat(soon).isEmpty();
    }

    @Test
    void async() throws Exception {
        // @formatter:off
        // snippet async
        CompletableFuture<Void> done = lock.acquireAsync().thenAccept(hold -> {
            try (hold) {
                orders.charge(42, hold.token());
            }
        });
        // end
        // @formatter:on
        done.get(5, TimeUnit.SECONDS);
        assertThat(orders.charged).hasSize(1);
    }

    @Test
    void run() throws InterruptedException {
        // @formatter:off
        // snippet run
        lock.run(hold -> orders.charge(42, hold.token()));
        boolean ran = lock.run(Duration.ofSeconds(2), hold -> orders.charge(42, hold.token()));
        long total = lock.call(hold -> orders.total());
        // end
        // @formatter:on
        assertThat(ran).isTrue();
        assertThat(total).isEqualTo(2);
    }

    @Test
    void loss() throws InterruptedException {
        Job job = new Job();
        // @formatter:off
        // snippet loss
        try (Hold hold = lock.acquire()) {
            hold.onLost(loss -> job.cancel());      // runs once, on the client's listener thread
            while (job.hasMore() && hold.isValid()) {
                job.step(hold.token());
            }
        }                                           // throws HoldLostException if it was lost
        // end
        // @formatter:on
        assertThat(job.steps).isZero();
    }

    @Test
    void gate() throws InterruptedException {
        // @formatter:off
        // snippet gate
        TokenGate gate = new TokenGate("ledger");
        try (Hold hold = lock.acquire()) {
            gate.check(hold.token());               // StaleTokenException once a later hold was here
            ledger.append("charged");
        }
        // end
        // @formatter:on
        assertThat(ledger.lines).containsExactly("charged");
    }

    @Test
    void java() {
        // @formatter:off
        // snippet java
        Lock javaLock = lock.asLock();              // owned by its thread, re-entrant
        javaLock.lock();
        try {
            orders.charge(42, 0);
        } finally {
            javaLock.unlock();
        }
        // end
        // @formatter:on
        assertThat(orders.charged).hasSize(1);
    }

    @Test
    void status() throws InterruptedException {
        try (Hold hold = lock.acquire()) {
            // @formatter:off
            // snippet status
            LockStatus status = lock.status();
            status.grant().ifPresent(held -> System.out.println(held.holder() + ", lease left " + held.leaseLeft()));
            // end
            // @formatter:on
            assertThat(status.grant().orElseThrow().token()).isEqualTo(hold.token());
        }
    }

    @Test
    void mem() throws InterruptedException {
        // @formatter:off
        // snippet mem
        ManualTime time = new ManualTime();
        MemoryStore memory = new MemoryStore(time);
        try (LockClient client = LockClient.builder(memory).time(time).build()) {
            Hold hold = client.lock("job", HoldOptions.defaults().autoRenew(false)).acquire();
            time.advance(Duration.ofSeconds(30));
            assertThat(hold.isValid()).isFalse();   // its lease has run out
        }
        // end
        // @formatter:on
    }

    @Test
    void options() throws InterruptedException {
        // @formatter:off
        // snippet options
        HoldOptions options = HoldOptions.defaults()
                .lease(Duration.ofSeconds(10))          // how long others wait after a crash; default 30 s
                .maxHold(Duration.ofMinutes(5))         // a hung holder is renewed no longer than this
                .awaitRelease(true);                    // close() waits until the store has confirmed
        DistributedLock nightly = client.lock("nightly", options);
        // end
        // @formatter:on
        try (Hold hold = nightly.acquire()) {
            assertThat(hold.remaining()).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    void listener() throws InterruptedException {
        Alerts alerts = new Alerts();
        // @formatter:off
        // snippet listener
        LockClient client = LockClient.builder("mem:")
                .listener(new LockListener() {
                    @Override
                    public void onLost(Loss loss) {
                        alerts.send(loss.message());
                    }

                    @Override
                    public void onNotAcquired(LockEvent.NotAcquired event) {
                        alerts.send(event.name() + " after " + event.waited() + ": " + event.reason());
                    }
                })
                .build();
        // end
        // @formatter:on
        try (client;
                Hold hold = client.lock("a").acquire()) {
            assertThat(client.lock("a").tryAcquire()).isEmpty();
            await().untilAsserted(() ->
                    assertThat(alerts.sent).singleElement().asString().endsWith("TAKEN"));
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void statistics() throws InterruptedException {
        Map<String, Number> gauges = new HashMap<>();
        try (Hold hold = lock.acquire()) {
            // @formatter:off
            // snippet statistics
            ClientStatistics now = client.statistics();
            gauges.put("locks.held", now.heldNow());
            gauges.put("locks.waiting", now.waitingNow());
            gauges.put("locks.mean.wait.millis", now.waitNanos() / 1e6 / Math.max(1, now.waits() - now.waitingNow()));
            gauges.put("locks.lost.expired", now.losses(Loss.Cause.NOT_RENEWED_IN_TIME));
            // end
            // @formatter:on
            assertThat(hold.isValid()).isTrue();
        }
        assertThat(gauges.get("locks.held")).isEqualTo(1L);
        assertThat(gauges.get("locks.waiting")).isEqualTo(0L);
    }

    private static final class Alerts {
        final List<String> sent = new CopyOnWriteArrayList<>();

        void send(String text) {
            sent.add(text);
        }
    }

    @Test
    void dataSource() throws InterruptedException {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("locks"));
        // @formatter:off
        // snippet dataSource
        try (LockClient client = LockClient.builder(JdbcStores.on(dataSource)).build()) {
            Hold hold = client.lock("order:42").acquire();
            hold.close();
        }
        // end
        // @formatter:on
    }

    @Test
    void jdbcFence() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("accounts"));
        try (Connection connection = dataSource.getConnection()) {
            JdbcFence.inTable("holdfast_fence").create(connection);
        }
        // @formatter:off
        // snippet jdbcFence
        JdbcFence fence = JdbcFence.inTable("holdfast_fence");       // fence.create(connection) makes the table

        try (Hold hold = client.lock("account:7").acquire();
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            fence.check(connection, "account:7", hold.token());      // StaleTokenException once a later hold was here
            withdraw(connection, 100);
            connection.commit();
        }
        // end
        // @formatter:on
    }

    @Test
    void transactionLocks() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("transactions"));
        // @formatter:off
        // snippet transactionLocks
        JdbcLocks locks = JdbcLocks.on(dataSource);                  // once; the pool itself

        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            locks.inTransaction(connection).lock("account:7");       // or tryLock(name), tryLock(name, timeout)
            withdraw(connection, 100);
            connection.commit();                                     // the lock ends here, or with the rollback
        }
        // end
        // @formatter:on
    }

    @Test
    void optimisticUpdate() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("optimistic"));
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)");
            statement.execute("INSERT INTO account VALUES (7, 200, 0)");
        }
        // @formatter:off
        // snippet optimisticUpdate
        OptimisticUpdate accounts = OptimisticUpdate.byVersion("account", "id", "version");

        OptimisticUpdate.Result result = accounts.update(dataSource, 7, row -> {
            long balance = row.getLong("balance");
            return balance < 100 ? Map.of() : Map.of("balance", balance - 100);      // empty: leave it as it is
        });
        String answer = switch (result.outcome()) {
            case UPDATED -> "paid";
            case UNCHANGED -> "too little money";
            case MISSING -> "no such account";
            case CONFLICT, GAVE_UP -> "too many want it, nothing was paid";          // after ten attempts
        };
        // end
        // @formatter:on
        assertThat(answer).isEqualTo("paid");
    }

    private static void withdraw(Connection connection, int amount) throws SQLException {
        assertThat(connection.isValid(amount)).isTrue();
    }

    @Test
    void redisClient() throws InterruptedException {
        try (RedisServer server = orSkip(RedisServer::start)) {
            String url = server.uri();
            // @formatter:off
            // snippet redisClient, with "redis://127.0.0.1:6379" for url
            RedisClient redis = RedisClient.create(url);
            try (LockClient client = LockClient.builder(RedisStores.on(redis)).build()) {
                Hold hold = client.lock("order:42").acquire();
                hold.close();
            }
            // end
            // @formatter:on
            redis.shutdown();
        }
    }

    @Test
    void redisFence() throws InterruptedException {
        try (RedisServer server = orSkip(RedisServer::start);
                RedisClient redis = RedisClient.create(server.uri());
                StatefulRedisConnection<String, String> connection = redis.connect()) {
            // @formatter:off
            // snippet redisFence
            RedisFence fence = RedisFence.on(connection);
            try (Hold hold = client.lock("stock:7").acquire()) {
                fence.check("stock:7", hold.token());       // StaleTokenException once a later hold was here
                connection.sync().decr("stock:7");
            }
            // end
            // @formatter:on
            assertThat(connection.sync().get("stock:7")).isEqualTo("-1");
        }
    }

    private static final class Orders {
        final List<Integer> charged = new ArrayList<>();

        void charge(int order, long token) {
            assertThat(token).isNotNegative();
            charged.add(order);
        }

        long total() {
            return charged.size();
        }
    }

    private static final class Ledger {
        final List<String> lines = new ArrayList<>();

        void append(String line) {
            lines.add(line);
        }
    }

    private static final class Job {
        private int steps = 3;

        boolean hasMore() {
            return steps > 0;
        }

        void step(long token) {
            assertThat(token).isPositive();
            steps--;
        }

        void cancel() {
            steps = 0;
        }
    }
}
