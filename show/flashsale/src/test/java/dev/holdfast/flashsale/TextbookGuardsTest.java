package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each guard that does not hold is caught by the fault that its page names, on every store. By its name it begins before shorter
 * tests, as it takes longest.
 */
@Tag("thorough")
@Timeout(420)
class TextbookGuardsTest {
    private static final int STOCK = 100; // so that each of the servers takes an order
    private static final int CROWD = 200;
    /** Two threads of one name must meet in a crowd, which on a busy machine they may not. */
    private static final int CROWDS = 3;
    /** Five leases of two seconds: whoever is locked out for so long is locked out for ever. */
    private static final Duration FOR_EVER = Duration.ofSeconds(10);

    private static final Set<String> THAT_HOLD = Set.of("pessimistic", "optimistic", "holdfast", "split");

    /** What is done to a sale, and what comes of it. */
    private enum Fault {
        /** Nothing: it sells too many by itself. */
        CROWD_OVERSELLS,
        /** A server is stopped past its lease: too many are sold. */
        STOP_OVERSELLS,
        /** A server is stopped past its lease: a ticket is sold twice. */
        STOP_SELLS_TWICE,
        /** A server is killed: all others wait for ever. */
        KILL_LOCKS_OUT,
        /** The same, or too many are sold: another holder, who came in beside the killed one, frees the lock. */
        KILL_LOCKS_OUT_OR_OVERSELLS
    }

    @Test
    void onSqlite() throws Exception {
        eachIsCaught(null, Map.of("query-and-occupy", Fault.KILL_LOCKS_OUT_OR_OVERSELLS));
    }

    @Test
    void onRedis() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start)) {
            eachIsCaught(
                    redis.uri(),
                    Map.ofEntries(
                            entry("setnx", Fault.KILL_LOCKS_OUT),
                            entry("setnx-finally", Fault.KILL_LOCKS_OUT),
                            entry("setnx-expire", Fault.STOP_OVERSELLS),
                            entry("setnx-ex", Fault.STOP_OVERSELLS),
                            entry("unique-value", Fault.STOP_OVERSELLS),
                            entry("lua-delete", Fault.STOP_OVERSELLS),
                            entry("watchdog", Fault.STOP_OVERSELLS)));
        }
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start)) {
            eachIsCaught(
                    postgres.jdbcUrl(),
                    Map.of(
                            "query-and-occupy", Fault.KILL_LOCKS_OUT_OR_OVERSELLS,
                            "unique-row", Fault.KILL_LOCKS_OUT,
                            // the threads of both servers have the same names
                            "host-and-thread", Fault.CROWD_OVERSELLS,
                            "heartbeat", Fault.STOP_OVERSELLS));
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer mariaDb = orSkip(MariaDbServer::start)) {
            eachIsCaught(mariaDb.jdbcUrl(), Map.of("query-and-occupy", Fault.KILL_LOCKS_OUT_OR_OVERSELLS));
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer zooKeeper = orSkip(ZooKeeperServer::start)) {
            eachIsCaught(
                    "zk://" + zooKeeper.connectString(),
                    Map.of(
                            "one-node", Fault.STOP_OVERSELLS,
                            "one-node-looked-at", Fault.STOP_OVERSELLS,
                            "sequential-nodes", Fault.STOP_OVERSELLS));
        }
    }

    @Test
    void onEtcd() throws Exception {
        try (EtcdServer etcd = orSkip(EtcdServer::start)) {
            eachIsCaught(
                    "etcd://" + etcd.endpoint(),
                    Map.of(
                            "put-if-absent", Fault.KILL_LOCKS_OUT,
                            "put-with-lease", Fault.STOP_OVERSELLS,
                            // it may also stop serving anybody, before it has sold too many
                            "lock-service", Fault.STOP_SELLS_TWICE));
        }
    }

    @Test
    void onMemcached() throws Exception {
        try (MemcachedServer memcached = orSkip(MemcachedServer::start)) {
            eachIsCaught(
                    "memcached://" + memcached.endpoint(),
                    Map.of(
                            "add", Fault.KILL_LOCKS_OUT,
                            "add-then-touch", Fault.STOP_OVERSELLS,
                            "add-with-lease", Fault.STOP_OVERSELLS));
        }
    }

    private static void eachIsCaught(@Nullable String store, Map<String, Fault> textbook) throws Exception {
        try (FlashSale sale = FlashSale.start(store, 2, 0, TextbookGuardsTest::print)) {
            List<String> naive = sale.figures().guards().stream()
                    .filter(guard -> !THAT_HOLD.contains(guard))
                    .toList();
            assertThat(naive).hasSize(textbook.size() + 2).containsAll(textbook.keySet());
            for (String guard : naive) {
                // what locks nothing in the store is asked once for each database of the tickets
                if (textbook.containsKey(guard) || store == null || store.startsWith("jdbc:")) {
                    isCaught(sale, guard, textbook.getOrDefault(guard, Fault.CROWD_OVERSELLS));
                }
            }
        }
    }

    private static void print(String line) {
        System.err.println(line);
    }

    private static void isCaught(FlashSale sale, String guard, Fault fault) throws InterruptedException {
        FlashSale.Figures end = sell(sale, guard, fault);
        for (int crowds = 1; fault == Fault.CROWD_OVERSELLS && crowds < CROWDS && !isCaught(fault, end); crowds++) {
            end = sell(sale, guard, fault);
        }
        assertThat(isCaught(fault, end)).as("%s, %s: %s", guard, fault, end).isTrue();
    }

    private static FlashSale.Figures sell(FlashSale sale, String guard, Fault fault) throws InterruptedException {
        sale.open(guard, STOCK, fault == Fault.CROWD_OVERSELLS ? 50 : 5);
        switch (fault) {
            case CROWD_OVERSELLS -> {}
            case STOP_OVERSELLS, STOP_SELLS_TWICE -> sale.servers().pause(1);
            case KILL_LOCKS_OUT, KILL_LOCKS_OUT_OR_OVERSELLS -> sale.servers().killInNextOrder(1);
        }

        boolean kills = fault == Fault.KILL_LOCKS_OUT || fault == Fault.KILL_LOCKS_OUT_OR_OVERSELLS;
        FlashSale.Figures end = OnTwoServers.sell(sale, CROWD, kills ? FOR_EVER : Buyers.PATIENCE);
        if (kills) {
            sale.servers().restart(1);
        } else {
            sale.servers().awaitUp(1);
        }
        return end;
    }

    private static boolean isCaught(Fault fault, FlashSale.Figures end) {
        boolean oversold = end.tally().oversold() > 0;
        boolean lockedOut =
                end.buyers().answers().containsKey("gave up") && end.tally().sold() < STOCK;
        return switch (fault) {
            case CROWD_OVERSELLS, STOP_OVERSELLS -> oversold;
            case STOP_SELLS_TWICE -> !end.tally().collisions().isEmpty();
            case KILL_LOCKS_OUT -> lockedOut;
            case KILL_LOCKS_OUT_OR_OVERSELLS -> lockedOut || oversold;
        };
    }
}
