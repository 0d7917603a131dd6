package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.Schedule;
import dev.holdfast.recipes.Cached;
import dev.holdfast.recipes.ClearableCache;
import dev.holdfast.recipes.ConsistentCache;
import dev.holdfast.recipes.CronSchedule;
import dev.holdfast.recipes.IdempotentConsumer;
import dev.holdfast.recipes.IdempotentConsumer.Handled;
import dev.holdfast.recipes.Segment;
import dev.holdfast.recipes.Segments;
import dev.holdfast.recipes.SingleFlight;
import dev.holdfast.recipes.Source;
import dev.holdfast.recipes.SplitStock;
import dev.holdfast.recipes.Stripes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The snippets of the page on recipes, run. */
class RecipesPageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final Shelf shelf = new Shelf();
    private final List<String> done = new ArrayList<>();

    @Test
    void singleFlight() throws InterruptedException {
        ClearableCache<String> cache = shelf;
        // @formatter:off
        // snippet singleFlight
        SingleFlight<String> articles = SingleFlight.of(client, "article", cache).servingStale();
        String article = articles.get("42", id -> load(id));        // one process loads, all others read what it put
        // end
        // @formatter:on
        assertThat(article).isEqualTo("article 42");
        // @formatter:off
        // snippet singleFlightTimed
        Optional<String> inTime = articles.get("42", Duration.ofMillis(200), id -> load(id));
        // end
        // @formatter:on
        assertThat(inTime).contains("article 42");
        assertThat(cache.get("42")).contains(Cached.fresh("article 42"));
    }

    @Test
    void consistentCache() throws InterruptedException {
        ClearableCache<String> cache = shelf;
        Source<String> source = shelf.source();
        // @formatter:off
        // snippet consistentCache
        ConsistentCache<String> prices = ConsistentCache.of(client, "price", cache, source);
        prices.put("42", "9.90");                                   // cache cleared, source written, cache filled
        Optional<String> price = prices.get("42");                  // never older than the last completed put
        // end
        // @formatter:on
        assertThat(price).contains("9.90");
    }

    @Test
    void stripes() throws InterruptedException {
        // @formatter:off
        // snippet stripes
        Stripes accounts = Stripes.of(client, "account", 64);       // a million accounts, 64 names in the store

        try (Hold one = accounts.lock("4711").acquire()) {
            deposit("4711", one.token());
        }
        try (MultiHold both = accounts.bulk(List.of("4711", "4712")).acquire()) {   // in order, without deadlock
            transfer(both.token(accounts.name("4711")), both.token(accounts.name("4712")));
        }
        // end
        // @formatter:on
        assertThat(done).containsExactly("deposit 4711", "transfer");
    }

    @Test
    void splitStock() throws InterruptedException, SQLException {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:stock;DB_CLOSE_DELAY=-1");
        try (Connection connection = database.getConnection();
                Statement sql = connection.createStatement()) {
            sql.execute("CREATE TABLE stock (segment INT PRIMARY KEY, pieces BIGINT NOT NULL, token BIGINT NOT NULL)");
            sql.execute("INSERT INTO stock SELECT x, 0, 0 FROM SYSTEM_RANGE(0, 15)");
            Segments segments = new StockTable(database);
            // @formatter:off
            // snippet splitStock
            SplitStock tickets = SplitStock.of(client, "tickets", 16, segments);
            tickets.fill(1_000);
            boolean sold = tickets.take(2);                         // false: fewer than two are left, anywhere
            tickets.putBack(1);
            // end
            // @formatter:on
            assertThat(sold).isTrue();
            assertThat(tickets.left()).isEqualTo(999);

            List<Segment> read = segments.read();
            assertThat(segments.write(List.of(
                            new Segments.Change(read.get(0), new Segment(0, 5, 1)),
                            new Segments.Change(new Segment(1, 5, 0), new Segment(1, 6, 1)))))
                    .isFalse();
            assertThat(tickets.left()).as("all or none").isEqualTo(999);
        }
    }

    @Test
    void idempotentConsumer() {
        for (int delivery = 0; delivery < 2; delivery++) {
            Message message = new Message("4711");
            // @formatter:off
            // snippet consumer
            IdempotentConsumer orders = IdempotentConsumer.of(client, "orders", Duration.ofDays(7));

            Handled handled = orders.handle(message.id(), turn -> book(message, turn.token()));
            if (handled.isDone()) {                                     // now, or before
                message.acknowledge();
            }
            // end
            // @formatter:on
            assertThat(handled).isEqualTo(delivery == 0 ? Handled.NOW : Handled.BEFORE);
        }
        assertThat(done).containsExactly("book 4711");
    }

    /** As a queue delivers it. */
    private record Message(String id) {
        void acknowledge() {
            assertThat(id).isNotEmpty();
        }
    }

    private void book(Message message, long token) {
        assertThat(token).isPositive();
        done.add("book " + message.id());
    }

    @Test
    void cron() {
        // @formatter:off
        // snippet cron
        Schedule nightly = CronSchedule.of("0 3 * * *", ZoneId.of("Europe/Berlin"));
        OnceResult result = client.once("backup", OnceOptions.on(nightly)).run(turn -> backUp());
        // end
        // @formatter:on
        assertThat(result.ran()).isTrue();
        assertThat(done).containsExactly("backup");
    }

    private void backUp() {
        done.add("backup");
    }

    private static String load(String id) {
        return "article " + id;
    }

    private void deposit(String account, long token) {
        assertThat(token).isPositive();
        done.add("deposit " + account);
    }

    private void transfer(long from, long to) {
        assertThat(List.of(from, to)).allMatch(token -> token > 0);
        done.add("transfer");
    }

    // @formatter:off
    // snippet stockTable
    /** Rows of: CREATE TABLE stock (segment INT PRIMARY KEY, pieces BIGINT NOT NULL, token BIGINT NOT NULL). */
    record StockTable(DataSource database) implements Segments {
        @Override
        public List<Segment> read() {
            String sql = "SELECT segment, pieces, token FROM stock ORDER BY segment";
            try (Connection connection = database.getConnection();
                    PreparedStatement select = connection.prepareStatement(sql);
                    ResultSet rows = select.executeQuery()) {
                List<Segment> read = new ArrayList<>();
                while (rows.next()) {
                    read.add(new Segment(rows.getInt(1), rows.getLong(2), rows.getLong(3)));
                }
                return read;
            } catch (SQLException e) {
                throw new IllegalStateException("cannot read the stock", e);
            }
        }

        @Override
        public boolean write(List<Change> changes) {
            try (Connection connection = database.getConnection()) {
                connection.setAutoCommit(false);
                try {
                    for (Change change : changes) {
                        if (!write(connection, change)) {
                            return false;                           // and rolls back
                        }
                    }
                    connection.commit();
                    return true;
                } finally {
                    connection.rollback();                          // nothing to undo after a commit
                    connection.setAutoCommit(true);
                }
            } catch (SQLException e) {
                throw new IllegalStateException("cannot write the stock", e);
            }
        }

        private static boolean write(Connection connection, Change change) throws SQLException {
            String sql = "UPDATE stock SET pieces = ?, token = ? WHERE segment = ? AND pieces = ? AND token = ?";
            try (PreparedStatement update = connection.prepareStatement(sql)) {
                update.setLong(1, change.changed().left());
                update.setLong(2, change.changed().token());
                update.setInt(3, change.read().number());
                update.setLong(4, change.read().left());
                update.setLong(5, change.read().token());
                return update.executeUpdate() == 1;                 // else somebody has changed it since
            }
        }
    }
    // end
    // @formatter:on

    /** A cache and its source. */
    private static final class Shelf implements ClearableCache<String> {
        private final Map<String, String> values = new HashMap<>();
        private final Map<String, Long> tokens = new HashMap<>();
        private final Map<String, String> rows = new HashMap<>();

        @Override
        public Optional<Cached<String>> get(String key) {
            return Optional.ofNullable(values.get(key)).map(Cached::fresh);
        }

        @Override
        public void put(String key, String value, long token) {
            if (tokens.merge(key, token, Math::max) == token) {
                values.put(key, value);
            }
        }

        @Override
        public void clear(String key, long token) {
            if (tokens.merge(key, token, Math::max) == token) {
                values.remove(key);
            }
        }

        Source<String> source() {
            return new Source<>() {
                @Override
                public Optional<String> read(String key, long token) {
                    return Optional.ofNullable(rows.get(key));
                }

                @Override
                public void write(String key, String value, long token) {
                    rows.put(key, value);
                }
            };
        }
    }
}
