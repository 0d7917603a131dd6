package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.TcpProxy;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that is away while the page is open, and returns. */
@Tag("thorough")
@Timeout(180)
class StoreAwayTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int STOCK = 20;

    @Test
    void whileTheStoreOfTheLocksIsAwayOrdersAreToldToTryLaterAndNoneIsLost() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start);
                TcpProxy proxy = TcpProxy.to(redis.port());
                FlashSale sale = FlashSale.start("redis://127.0.0.1:" + proxy.port(), 2, 0, StoreAwayTest::print)) {
            sale.open("holdfast", STOCK, 5);
            proxy.refuse();
            proxy.cut();

            HttpResponse<String> answer = order(sale);

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
            await().atMost(LONG)
                    .untilAsserted(
                            () -> assertThat(sale.figures().lock().trouble()).contains("redis://127.0.0.1"));

            proxy.accept();
            assertThat(sell(sale).tally().sold()).isEqualTo(STOCK);
        }
    }

    @Test
    void whileTheDatabaseIsAwayThePageSaysSoAndGoesOnWhenItReturns() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start);
                TcpProxy proxy = TcpProxy.to(postgres.port());
                FlashSale sale = FlashSale.start(
                        postgres.jdbcUrl().replace(":" + postgres.port(), ":" + proxy.port()),
                        2,
                        0,
                        StoreAwayTest::print)) {
            sale.open("holdfast", STOCK, 5);
            proxy.refuse();
            proxy.cut();

            await().atMost(LONG).until(() -> firstEvent(sale).contains("The database does not answer"));
            assertThat(order(sale).statusCode()).isEqualTo(503);

            proxy.accept();
            await().atMost(LONG).until(() -> firstEvent(sale).contains("\"sale\":"));
            assertThat(sell(sale).tally().sold()).isEqualTo(STOCK);
        }
    }

    private static String firstEvent(FlashSale sale) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(sale.address().resolve("/events")).build();
        try (var lines =
                HttpClient.newHttpClient().send(request, BodyHandlers.ofLines()).body()) {
            return lines.filter(line -> line.startsWith("data:")).findFirst().orElseThrow();
        }
    }

    private static HttpResponse<String> order(FlashSale sale) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        OnTwoServers.order(sale.address().resolve("/sales/1/orders"), "key", "{\"quantity\":1}"),
                        BodyHandlers.ofString());
    }

    private static FlashSale.Figures sell(FlashSale sale) {
        sale.send(64, 1);
        await().atMost(Duration.ofMinutes(2)).until(sale::isQuiet);
        return sale.figures();
    }

    private static void print(String line) {
        System.err.println(line);
    }
}
