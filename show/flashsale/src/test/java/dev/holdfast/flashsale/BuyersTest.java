package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Buyers and the seed that draws them. */
class BuyersTest {
    private static final int COUNT = 5;
    private static final int WITHIN = 300; // milliseconds

    @Test
    void theSameSeedDrawsTheSameKeysAndMoments() {
        assertThat(drawn(123)).hasSize(COUNT).isEqualTo(drawn(123)).doesNotContainAnyElementsOf(drawn(124));
    }

    @Test
    void theBuyersWhoAreDrawnCome() throws Exception {
        Set<String> keys = ConcurrentHashMap.newKeySet();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            exchange.sendResponseHeaders(201, -1);
            exchange.close();
        });
        server.start();
        try {
            URI orders = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            Buyers buyers = Buyers.send(orders, Collections.nCopies(COUNT, "{}"), WITHIN, new SplittableRandom(123));
            await().atMost(OnTwoServers.LONG).until(buyers::isDone);
        } finally {
            server.stop(0);
        }

        assertThat(keys)
                .containsExactlyInAnyOrderElementsOf(Buyers.draw(COUNT, WITHIN, new SplittableRandom(123)).stream()
                        .map(Buyers.Arrival::key)
                        .toList());
    }

    private static List<String> drawn(int seed) {
        return Buyers.draw(COUNT, WITHIN, new SplittableRandom(seed)).stream()
                .map(each -> each.key() + " after " + each.millis() + " ms")
                .toList();
    }
}
