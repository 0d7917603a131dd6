package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sale on the stores with servers: Holdfast ten times in a row, and textbooks' locks under their faults. */
@Tag("thorough")
@Timeout(300)
class FlashSaleStoresTest {
    private static final int STOCK = 20;
    private static final int CROWD = 64;

    @Test
    void onRedis() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start);
                FlashSale sale = FlashSale.start(redis.uri(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTicketsTenTimes(sale);
            sellsTooManyWhenAServerIsStopped(sale, "setnx-ex");
            sellsTooManyWhenAServerIsStopped(sale, "lua-delete");
            sellsTooManyWhenAServerIsStopped(sale, "watchdog");
            isStuckWhenAServerIsKilled(sale, "setnx-finally");
        }
    }

    @Test
    void onSqlite() throws Exception {
        try (FlashSale sale = FlashSale.start(null, 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTicketsTenTimes(sale);
            isStuckWhenAServerIsKilled(sale, "query-and-occupy");
        }
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start);
                FlashSale sale = FlashSale.start(postgres.jdbcUrl(), 2, 0, FlashSaleStoresTest::print)) {
            aSecondSaleIsRefused(postgres.jdbcUrl());
            holdfastSellsExactlyTheTicketsTenTimes(sale);
            sellsTooManyWhenAServerIsStopped(sale, "heartbeat");
            isStuckWhenAServerIsKilled(sale, "unique-row");
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer mariaDb = orSkip(MariaDbServer::start);
                FlashSale sale = FlashSale.start(mariaDb.jdbcUrl(), 2, 0, FlashSaleStoresTest::print)) {
            aSecondSaleIsRefused(mariaDb.jdbcUrl());
            keysThatDifferInCaseAreTwoOrders(sale);
            holdfastSellsExactlyTheTicketsTenTimes(sale);
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer zooKeeper = orSkip(ZooKeeperServer::start);
                FlashSale sale =
                        FlashSale.start("zk://" + zooKeeper.connectString(), 2, 0, FlashSaleStoresTest::print)) {
            holdfastSellsExactlyTheTicketsTenTimes(sale);
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

    private static void holdfastSellsExactlyTheTicketsTenTimes(FlashSale sale) {
        for (int i = 0; i < 10; i++) {
            sale.open("holdfast", STOCK, 5);

            FlashSale.Figures end = sell(sale);

            assertThat(end.tally().sold()).isEqualTo(STOCK);
            assertThat(end.tally().oversold()).isZero();
            assertThat(end.tally().collisions()).isEmpty();
            assertThat(end.remaining()).isZero();
        }
    }

    private static void sellsTooManyWhenAServerIsStopped(FlashSale sale, String guard) {
        sale.open(guard, STOCK, 5);
        sale.servers().pause(1);

        assertThat(sell(sale).tally().oversold()).as(guard).isPositive();
    }

    private static void isStuckWhenAServerIsKilled(FlashSale sale, String guard) throws InterruptedException {
        sale.open(guard, STOCK, 5);
        sale.servers().killInNextOrder(1);

        FlashSale.Figures end = sell(sale);

        assertThat(end.buyers().answers()).as(guard).containsKey("gave up");
        assertThat(end.tally().sold()).as(guard).isLessThan(STOCK);
        sale.servers().restart(1);
    }

    private static void print(String line) {
        System.err.println(line);
    }

    private static FlashSale.Figures sell(FlashSale sale) {
        sale.send(CROWD, 1);
        await().atMost(Duration.ofMinutes(2)).until(sale::isQuiet);
        return sale.figures();
    }
}
