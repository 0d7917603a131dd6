package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holdfast's guard on every store: a sale, and one in which the holder of the lock is stopped, or killed. */
@Tag("thorough")
@Timeout(300)
class FlashSaleStoresTest {
    private static final int STOCK = 20;
    private static final int CROWD = 64;
    /** After which the next one has the lock: the lease, and time for busy machines; buyers give up after 30 s. */
    private static final Duration LEASE = Duration.ofSeconds(2 + 10);
    /** On ZooKeeper it is the session, which ends up to a tick late. */
    private static final Duration SESSION = Duration.ofSeconds(6 + 2 + 10);

    @Test
    void onSqlite() throws Exception {
        try (FlashSale sale = FlashSale.start(null, 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE);
        }
    }

    @Test
    void onRedis() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start);
                FlashSale sale = FlashSale.start(redis.uri(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE);
        }
    }

    @Test
    void onAQuorumOfRedisServers() throws Exception {
        try (RedisQuorum quorum = new RedisQuorum();
                FlashSale sale = FlashSale.start(quorum.url(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE);
        }
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start);
                FlashSale sale = FlashSale.start(postgres.jdbcUrl(), 2, 0, FlashSaleStoresTest::print)) {
            aSecondSaleIsRefused(postgres.jdbcUrl());
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE);
            thePageShowsTheOrdersInTheDatabase(sale, postgres.jdbcUrl());
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer mariaDb = orSkip(MariaDbServer::start);
                FlashSale sale = FlashSale.start(mariaDb.jdbcUrl(), 2, 0, FlashSaleStoresTest::print)) {
            aSecondSaleIsRefused(mariaDb.jdbcUrl());
            keysThatDifferInCaseAreTwoOrders(sale);
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE);
            thePageShowsTheOrdersInTheDatabase(sale, mariaDb.jdbcUrl());
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer zooKeeper = orSkip(ZooKeeperServer::start);
                FlashSale sale =
                        FlashSale.start("zk://" + zooKeeper.connectString(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, SESSION);
        }
    }

    @Test
    void onEtcd() throws Exception {
        try (EtcdServer etcd = orSkip(EtcdServer::start);
                FlashSale sale = FlashSale.start("etcd://" + etcd.endpoint(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            aStoppedHolderIsRefusedByTheFence(sale);
            aKilledHolderDelaysTheSaleAndLosesNothing(sale, LEASE.plusSeconds(2));
        }
    }

    @Test
    void onMemcached() throws Exception {
        try (MemcachedServer memcached = orSkip(MemcachedServer::start);
                FlashSale sale =
                        FlashSale.start("memcached://" + memcached.endpoint(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTickets(sale);
            FlashSale.Figures end = sellWithAStoppedHolder(sale);
            while (end.struck().paused() == 0) { // waiters have no order: the other server has sold all
                end = sellWithAStoppedHolder(sale);
            }
            aStoppedHolderIsRefusedByTheFence(sale, end);
            aServerIsToBeKilledInItsNextOrder(sale);
            anOrderMeetsItsKill(sale); // before the crowd, in which the other server could have the lock each time
            theSaleIsDelayedAndLosesNothing(sale, LEASE.plusSeconds(3));
        }
    }

    private static void aSecondSaleIsRefused(String store) throws Exception {
        try (Storage second = Storage.on(store)) {
            assertThatThrownBy(second::createTables).hasMessageContaining("already has a table flashsale_sale");
        }
    }

    private static void keysThatDifferInCaseAreTwoOrders(FlashSale sale) throws Exception {
        sale.open("holdfast", STOCK, 0);
        for (String key : List.of("abc", "ABC")) {
            HttpRequest order = OnTwoServers.order(sale.address().resolve("/sales/1/orders"), key, "{\"quantity\":1}");
            assertThat(HttpClient.newHttpClient()
                            .send(order, BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(201);
        }
        assertThat(sale.figures().tally().orders()).isEqualTo(2);
    }

    private static void holdfastSellsExactlyTheTickets(FlashSale sale) {
        sale.open("holdfast", STOCK, 5);

        FlashSale.Figures end = OnTwoServers.sell(sale, CROWD);

        assertThat(end.tally().sold()).isEqualTo(STOCK);
        assertThat(end.tally().oversold()).isZero();
        assertThat(end.tally().collisions()).isEmpty();
        assertThat(end.remaining()).isZero();
    }

    private static void aStoppedHolderIsRefusedByTheFence(FlashSale sale) throws InterruptedException {
        aStoppedHolderIsRefusedByTheFence(sale, sellWithAStoppedHolder(sale));
    }

    /** For longer than its lease, between reading and writing. */
    private static FlashSale.Figures sellWithAStoppedHolder(FlashSale sale) {
        sale.open("holdfast", STOCK, 5);
        sale.servers().pause(1);
        return OnTwoServers.sell(sale, CROWD);
    }

    private static void aStoppedHolderIsRefusedByTheFence(FlashSale sale, FlashSale.Figures end)
            throws InterruptedException {
        assertThat(end.struck().paused()).isEqualTo(1);
        assertThat(end.tally().sold()).isEqualTo(STOCK);
        assertThat(end.tally().oversold()).isZero();
        assertThat(end.tally().refusals()).isPositive();
        sale.servers().awaitUp(1);
    }

    private static void aKilledHolderDelaysTheSaleAndLosesNothing(FlashSale sale, Duration atMost) {
        aServerIsToBeKilledInItsNextOrder(sale);
        theSaleIsDelayedAndLosesNothing(sale, atMost);
    }

    private static void aServerIsToBeKilledInItsNextOrder(FlashSale sale) {
        sale.open("holdfast", 100, 5);
        sale.servers().killInNextOrder(2);
    }

    private static void anOrderMeetsItsKill(FlashSale sale) throws InterruptedException {
        HttpRequest order =
                OnTwoServers.order(sale.servers().address(2).resolve("/sales/1/orders"), "killed", "{\"quantity\":1}");
        assertThatThrownBy(() -> HttpClient.newHttpClient().send(order, BodyHandlers.discarding()))
                .isInstanceOf(IOException.class);
    }

    private static void theSaleIsDelayedAndLosesNothing(FlashSale sale, Duration atMost) {
        sale.send(200, 1);

        Duration standstill = OnTwoServers.longestStandstill(sale);

        FlashSale.Figures end = sale.figures();
        print("after the holder was killed, nothing was sold for " + standstill.toMillis() + " ms");
        assertThat(end.nodes().get(1).state()).isEqualTo("DOWN");
        assertThat(standstill).isLessThan(atMost);
        assertThat(end.tally().orders()).isEqualTo(100);
        assertThat(end.tally().sold()).isEqualTo(100);
        assertThat(end.tally().collisions()).isEmpty();
        assertThat(end.remaining()).isZero();
        assertThat(end.buyers().answers()).containsEntry("201", 100).containsEntry("409", 100);
    }

    private static void thePageShowsTheOrdersInTheDatabase(FlashSale sale, String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database);
                Statement statement = connection.createStatement();
                ResultSet orders = statement.executeQuery(
                        "SELECT COUNT(DISTINCT order_key), SUM(quantity) FROM flashsale_order WHERE sale = '1'")) {
            orders.next();
            assertThat(orders.getLong(1)).isEqualTo(sale.figures().tally().orders());
            assertThat(orders.getLong(2)).isEqualTo(sale.figures().tally().sold());
        }
    }

    private static void print(String line) {
        System.err.println(line);
    }
}
