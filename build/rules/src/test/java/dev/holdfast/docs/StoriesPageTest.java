package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.jdbc.JdbcFence;
import dev.holdfast.recipes.Cached;
import dev.holdfast.recipes.SharedCache;
import dev.holdfast.recipes.SingleFlight;
import dev.holdfast.recipes.SplitStock;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The snippets of the page of stories, run by two clients of one file at the same time. */
@Timeout(120)
class StoriesPageTest {
    private static final int READERS = 50;
    private static final int PIECES = 1_000;

    @TempDir
    private static Path folder;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final JdbcDataSource bank = new JdbcDataSource();
    private final List<LockClient> clients = new ArrayList<>();

    @BeforeEach
    void connect() {
        for (int i = 0; i < 2; i++) {
            clients.add(LockClient.connect("sqlite:" + folder.resolve("locks.db")));
        }
        bank.setUrl("jdbc:h2:mem:stories;DB_CLOSE_DELAY=-1");
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        clients.forEach(LockClient::close);
    }

    @Test
    void theCouple() throws Exception {
        JdbcFence fence = JdbcFence.inTable("holdfast_fence");
        try (Connection connection = bank.getConnection()) {
            fence.create(connection);
            execute(connection, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
            execute(connection, "INSERT INTO account VALUES (7, 200)");
        }
        Future<Boolean> she = threads.submit(() -> withdraw(clients.get(0), fence, 100));
        Future<Boolean> he = threads.submit(() -> withdraw(clients.get(1), fence, 150));

        assertThat(List.of(she.get(), he.get())).containsExactlyInAnyOrder(true, false);
        try (Connection connection = bank.getConnection()) {
            assertThat(balance(connection)).isEqualTo(she.get() ? 100 : 50);
        }
    }

    // @formatter:off
    // snippet withdraw
    private boolean withdraw(LockClient client, JdbcFence fence, int amount) throws Exception {
        try (Hold hold = client.lock("account:7").acquire();
                Connection connection = bank.getConnection()) {
            connection.setAutoCommit(false);
            fence.check(connection, "account:7", hold.token());     // a holder that stood still for too long ends here
            int balance = balance(connection);
            if (balance < amount) {
                return false;
            }
            execute(connection, "UPDATE account SET balance = " + (balance - amount) + " WHERE id = 7");
            connection.commit();
            return true;
        }
    }
    // end
    // @formatter:on

    private static int balance(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT balance FROM account WHERE id = 7")) {
            assertThat(row.next()).isTrue();
            return row.getInt(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void theHotArticle() throws Exception {
        AtomicInteger queries = new AtomicInteger();
        Shelf cache = new Shelf();
        List<Callable<String>> readers = new ArrayList<>();
        List<SingleFlight<String>> servers = clients.stream()
                .map(client -> SingleFlight.of(client, "article", cache))
                .toList();
        for (int i = 0; i < READERS; i++) {
            SingleFlight<String> articles = servers.get(i % 2);
            readers.add(() -> {
                // @formatter:off
                // snippet hotArticle
                String article = articles.get("42", id -> "article " + id + ", query " + queries.incrementAndGet());
                // end
                // @formatter:on
                return article;
            });
        }
        for (Future<String> read : threads.invokeAll(readers)) {
            assertThat(read.get()).isEqualTo("article 42, query 1");
        }
    }

    @Test
    @Tag("thorough")
    void theStock() throws Exception {
        try (Connection connection = bank.getConnection()) {
            execute(
                    connection,
                    "CREATE TABLE stock (segment INT PRIMARY KEY, pieces BIGINT NOT NULL, token BIGINT NOT NULL)");
            execute(connection, "INSERT INTO stock SELECT x, 0, 0 FROM SYSTEM_RANGE(0, 15)");
        }
        List<Callable<Integer>> shops = new ArrayList<>();
        List<SplitStock> stocks = clients.stream()
                .map(client -> SplitStock.of(client, "phones", 16, new RecipesPageTest.StockTable(bank)))
                .toList();
        stocks.get(0).fill(PIECES);
        for (int i = 0; i < 8; i++) {
            SplitStock phones = stocks.get(i % 2);
            shops.add(() -> {
                // @formatter:off
                // snippet flashSale
                int sold = 0;
                while (phones.take(1)) {            // false: sold out, and nothing is left in any segment
                    sold++;
                }
                // end
                // @formatter:on
                return sold;
            });
        }
        int sold = 0;
        for (Future<Integer> shop : threads.invokeAll(shops, 1, TimeUnit.MINUTES)) {
            sold += shop.get();
        }
        assertThat(sold).isEqualTo(PIECES);
    }

    /** A cache that compares tokens. */
    private static final class Shelf implements SharedCache<String> {
        private final Map<String, String> values = new ConcurrentHashMap<>();
        private final Map<String, Long> tokens = new ConcurrentHashMap<>();

        @Override
        public Optional<Cached<String>> get(String key) {
            return Optional.ofNullable(values.get(key)).map(Cached::fresh);
        }

        @Override
        public synchronized void put(String key, String value, long token) {
            if (tokens.merge(key, token, Math::max) == token) {
                values.put(key, value);
            }
        }
    }
}
