package dev.holdfast.recipes;

import static dev.holdfast.recipes.Clients.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What the cache shows is what the source has. */
class ConsistentCacheTest {
    @AutoClose
    private final Clients clients = new Clients(2);

    private final FencedCache cache = new FencedCache();
    private final Table table = new Table();

    private ConsistentCache<String> prices(int client) {
        return ConsistentCache.of(clients.get(client), "price", cache, table);
    }

    @Test
    void aValueIsReadFromTheSourceOnce() throws InterruptedException {
        table.write("42", "100", 0);

        assertThat(prices(0).get("42")).contains("100");
        assertThat(prices(1).get("42")).contains("100");
        assertThat(table.reads).hasValue(1);
    }

    @Test
    void aChangeIsShownByEveryLaterGet() throws InterruptedException {
        table.write("42", "100", 0);
        assertThat(prices(0).get("42")).contains("100");

        prices(1).put("42", "200");

        assertThat(prices(0).get("42")).contains("200");
        assertThat(table.rows.get("42").value()).isEqualTo("200");
    }

    @Test
    void anAbsentValueIsNotCached() throws InterruptedException {
        assertThat(prices(0).get("42")).isEmpty();
        table.write("42", "100", 0);
        assertThat(prices(0).get("42")).contains("100");
    }

    @Test
    void aWriterWaitsForAReaderThatHasReadAndNotPutYet() throws Exception {
        table.write("42", "100", 0);
        Gate gate = table.stopNextReader();
        Future<Optional<String>> reader = clients.start(() -> prices(0).get("42"));
        gate.awaitArrival();
        Future<Void> writer = clients.start(() -> {
            prices(1).put("42", "200");
            return null;
        });
        org.awaitility.Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> clients.get(1).lock("price/42").status().waiting() == 1);
        gate.open();

        assertThat(resultOf(reader)).contains("100");
        resultOf(writer);
        assertThat(prices(0).get("42")).contains("200");
    }

    @Test
    void aReaderThatLostItsHoldCannotPutWhatItRead() throws Exception {
        table.write("42", "100", 0);
        Gate gate = table.stopNextReader();
        Future<Optional<String>> late = clients.start(() -> prices(0).get("42"));
        gate.awaitArrival();
        breakHolder();
        prices(1).put("42", "200");
        gate.open();

        assertThat(resultOf(late)).contains("100");
        assertThat(prices(0).get("42")).contains("200");
    }

    @Test
    void aWriterThatLostItsHoldChangesNothing() throws Exception {
        table.write("42", "100", 0);
        Gate gate = table.stopNextWriter();
        Future<Void> late = writerThatLosesItsHold(gate);
        prices(1).put("42", "300");
        gate.open();

        assertThatThrownBy(() -> resultOf(late)).isInstanceOf(StaleTokenException.class);
        assertThat(prices(0).get("42")).contains("300");
        assertThat(table.rows.get("42").value()).isEqualTo("300");
    }

    @Test
    void aWriterThatLostItsHoldBeforeAReaderFilledTheCacheChangesNothing() throws Exception {
        table.write("42", "100", 0);
        Gate gate = table.stopNextWriter();
        Future<Void> late = writerThatLosesItsHold(gate);
        assertThat(prices(1).get("42")).contains("100");
        gate.open();

        assertThatThrownBy(() -> resultOf(late)).isInstanceOf(StaleTokenException.class);
        assertThat(prices(0).get("42")).contains("100");
        assertThat(table.rows.get("42").value()).isEqualTo("100");
    }

    private Future<Void> writerThatLosesItsHold(Gate gate) {
        Future<Void> writer = clients.start(() -> {
            prices(0).put("42", "200");
            return null;
        });
        gate.awaitArrival();
        breakHolder();
        return writer;
    }

    private void breakHolder() {
        LockClient client = clients.get(1);
        long token =
                client.readWriteLock("price/42").status().grant().orElseThrow().token();
        assertThat(client.breakGrant("price/42", token, true)).isTrue();
    }

    /** A table with a column for the highest token of writers and readers. */
    private static final class Table implements Source<String> {
        record Row(String value, long token) {}

        final Map<String, Row> rows = new ConcurrentHashMap<>();
        final AtomicInteger reads = new AtomicInteger();
        private volatile Gate readers = opened();
        private volatile Gate writers = opened();

        @Override
        public Optional<String> read(String key, long token) {
            reads.incrementAndGet();
            Row row = rows.computeIfPresent(key, (name, now) -> new Row(now.value(), Math.max(now.token(), token)));
            Optional<String> read = Optional.ofNullable(row).map(Row::value);
            readers.pass();
            return read;
        }

        @Override
        public void write(String key, String value, long token) {
            Gate gate = writers;
            writers = opened();
            gate.pass();
            rows.merge(key, new Row(value, token), (now, written) -> {
                if (now.token() > token) {
                    throw new StaleTokenException("price " + key, token, now.token());
                }
                return written;
            });
        }

        Gate stopNextReader() {
            Gate gate = new Gate();
            readers = gate;
            return gate;
        }

        Gate stopNextWriter() {
            Gate gate = new Gate();
            writers = gate;
            return gate;
        }

        private static Gate opened() {
            Gate gate = new Gate();
            gate.open();
            return gate;
        }
    }
}
