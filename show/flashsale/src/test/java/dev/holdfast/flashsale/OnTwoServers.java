package dev.holdfast.flashsale;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** A sale on two real servers, on the embedded store: one for all test classes of a JVM, as its start takes seconds. */
abstract class OnTwoServers {
    static final Duration LONG = Duration.ofMinutes(1);
    static final int STOCK = 20;
    static final int CROWD = 64;

    static FlashSale sale;

    final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        if (sale == null) {
            sale = FlashSale.start(null, 2, 0, System.err::println);
            Runtime.getRuntime().addShutdownHook(new Thread(sale::close));
        }
    }

    /** One test that fails does not fail the next. */
    @AfterEach
    void letItComeToRest() {
        awaitQuiet();
    }

    static FlashSale.Figures sell(int crowd) {
        return sell(sale, crowd);
    }

    static FlashSale.Figures sell(FlashSale sale, int crowd) {
        return sell(sale, crowd, Buyers.PATIENCE);
    }

    static FlashSale.Figures sell(FlashSale sale, int crowd, Duration patience) {
        sale.send(crowd, 1, patience);
        await().atMost(LONG).until(sale::isQuiet);
        return sale.figures();
    }

    /** Watches the buyers until they are done: how long nothing was sold, though somebody wanted a ticket and got it. */
    static Duration longestStandstill(FlashSale sale) {
        long[] last = {System.nanoTime(), 0, 0}; // the time and the number of the last sale, and the longest pause
        await().atMost(LONG)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> {
                    long sold = sale.figures().tally().sold();
                    if (sold != last[1]) {
                        last[2] = Math.max(last[2], System.nanoTime() - last[0]);
                        last[0] = System.nanoTime();
                        last[1] = sold;
                    }
                    return sale.isQuiet();
                });
        return Duration.ofNanos(last[2]);
    }

    static void awaitQuiet() {
        await().atMost(LONG).until(sale::isQuiet);
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(at(path)).build(), BodyHandlers.ofString());
    }

    HttpResponse<String> order(String id, String key, String body) throws IOException, InterruptedException {
        return http.send(order(at("/sales/" + id + "/orders"), key, body), BodyHandlers.ofString());
    }

    static HttpRequest order(URI orders, String key, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(orders)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        if (key != null && !key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        return request.build();
    }

    static HttpRequest post(String path, String body) {
        return HttpRequest.newBuilder(at(path))
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    static URI at(String path) {
        return sale.address().resolve(path);
    }
}
