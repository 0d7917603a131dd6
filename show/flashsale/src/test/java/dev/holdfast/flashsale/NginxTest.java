package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.Binaries;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sale behind a real nginx. */
@Tag("thorough")
class NginxTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int STOCK = 20;
    private static final int CROWD = 64;

    @Test
    void theSaleHoldsBehindNginxAlsoWhenAServerIsKilledAndReturns() throws Exception {
        Path nginx = nginx();
        List<ProcessHandle> all = new ArrayList<>();
        try (FlashSale sale = FlashSale.start(null, 2, 0, nginx, line -> System.err.println(line))) {
            sale.open("holdfast", STOCK, 5);
            assertThat(OnTwoServers.sell(sale, CROWD).tally().sold()).isEqualTo(STOCK);
            assertThat(serversThatSell(sale)).containsExactly("1", "2");

            sale.servers().kill(1);
            assertThat(serversThatSell(sale)).containsExactly("2");

            sale.servers().restart(1);
            assertThat(serversThatSell(sale)).containsExactly("1", "2");
            all.addAll(running());
            assertThat(all).isNotEmpty();
        }
        await().atMost(LONG).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void thePageItsEventsAndItsButtonsComeThroughNginx() throws Exception {
        Path nginx = nginx();
        try (FlashSale sale = FlashSale.start(null, 1, 0, nginx, line -> System.err.println(line))) {
            HttpClient http = HttpClient.newHttpClient();
            URI address = sale.address();

            assertThat(get(http, address.resolve("/"))).contains("<html");
            try (Stream<String> events = http.send(
                            HttpRequest.newBuilder(address.resolve("/events")).build(), BodyHandlers.ofLines())
                    .body()) {
                assertThat(events.filter(line -> line.contains("\"stock\":20")).findFirst())
                        .isPresent();
            }
            HttpRequest button = HttpRequest.newBuilder(address.resolve("/control/sale"))
                    .POST(HttpRequest.BodyPublishers.ofString("{\"guard\":\"none\",\"stock\":7,\"gapMillis\":0}"))
                    .build();
            assertThat(http.send(button, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
            assertThat(get(http, address.resolve("/sales/1"))).contains("\"stock\":7");
        }
    }

    @Test
    void aPortThatIsTakenIsReported() throws Exception {
        Path program = nginx();
        try (ServerSocket taken = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Nginx nginx = new Nginx(program, taken.getLocalPort())) {
            assertThatThrownBy(() -> nginx.start(URI.create("http://127.0.0.1:1")))
                    .isInstanceOf(BindException.class);
        }
    }

    @Test
    void nginxEndsWithASaleThatIsKilled() {
        nginx();
        try (ChildProcess sale = ChildJvm.main(SaleCommand.class)
                .args("--port", "0", "--nodes", "1", "--nginx")
                .start()) {
            sale.expect("The sale is open at http://127.0.0.1:", LONG);
            List<ProcessHandle> all =
                    ProcessHandle.of(sale.pid()).orElseThrow().descendants().toList();
            assertThat(all).anyMatch(NginxTest::isNginx);

            sale.kill();

            await().atMost(LONG).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
        }
    }

    @Test
    void whereNginxIsMissingTheErrorSaysHowToGetIt(@TempDir Path empty) {
        assertThatThrownBy(() -> Nginx.find(empty.toString()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("nginx is not installed; searched: " + empty
                        + ". Install it (Debian: apt-get install nginx-light), or omit --nginx");
    }

    private static Path nginx() {
        return orSkip(() -> Binaries.onThisMachine().findInstalled("nginx", "apt-get install nginx-light"));
    }

    /** Without a lock, since a lock may stay with one server. */
    private static List<String> serversThatSell(FlashSale sale) {
        sale.open("optimistic", STOCK, 0);
        return OnTwoServers.sell(sale, STOCK).tally().soldBy().keySet().stream()
                .sorted()
                .toList();
    }

    private static String get(HttpClient http, URI address) throws Exception {
        return http.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString())
                .body();
    }

    private static List<ProcessHandle> running() {
        return ProcessHandle.current().descendants().filter(NginxTest::isNginx).toList();
    }

    private static boolean isNginx(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("/nginx");
    }
}
