package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The answers to requests, right and wrong. */
@Tag("thorough")
class RequestsTest extends OnTwoServers {
    @Test
    void anOrderThatIsSentTwiceIsOneOrder() throws Exception {
        sale.open("holdfast", STOCK, 0);

        HttpResponse<String> first = order("1", "same key", "{\"quantity\":2}");
        HttpResponse<String> second = order("1", "same key", "{\"quantity\":2}");
        HttpResponse<String> other = order("1", "same key", "{\"quantity\":3}");

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(second.statusCode()).isEqualTo(201);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(get("/sales/1").body()).contains("\"remaining\":18");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "7|key|{\"quantity\":1}|404|There is no sale '7'.",
                "1|key|{\"quantity\":0}|400|The quantity must be 1 to 20.",
                "1|key|{\"quantity\":-3}|400|The quantity must be 1 to 20.",
                "1|key|{\"quantity\":21}|400|The quantity must be 1 to 20.",
                "1|key|{}|400|The quantity must be 1 to 20.",
                "1|key|{\"quantity\":1.5}|400|Failed to read request",
                "1|key|{\"quantity\":99999999999}|400|Failed to read request",
                "1|key|{\"quantity\":\"all\"}|400|Failed to read request",
                "1|key|null|400|Failed to read request",
                "1|key|one, please|400|Failed to read request",
                "1||{\"quantity\":1}|400|The header Idempotency-Key must have 1 to 100 characters"
            })
    void aWrongOrderIsRefusedAndSaysWhy(String id, String key, String body, int status, String detail)
            throws Exception {
        sale.open("holdfast", STOCK, 0);

        HttpResponse<String> answer = order(id, key, body);

        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains(detail);
        assertThat(sale.figures().tally().orders()).isZero();
    }

    /** What the servers answer is in the OpenAPI description, and nothing else: the buttons and faults are no part of it. */
    @Test
    void theOpenApiDescriptionHasEveryRequestAndItsAnswers() throws Exception {
        JsonNode paths =
                JsonMapper.builder().build().readTree(get("/openapi").body()).get("paths");

        assertThat(paths.propertyNames())
                .containsExactlyInAnyOrder(
                        "/sales/{id}", "/sales/{id}/orders", "/accounts/{id}", "/accounts/{id}/withdrawals", "/lock10");
        for (String order : List.of("/sales/{id}/orders", "/accounts/{id}/withdrawals", "/lock10")) {
            assertThat(paths.get(order).get("post").get("responses").propertyNames())
                    .as(order)
                    .containsExactlyInAnyOrder("201", "400", "404", "409", "422", "429", "503");
        }
        assertThat(get("/swagger-ui/index.html").body()).contains("swagger-ui");
        assertThat(get("/swagger-ui/swagger-initializer.js").body()).contains("/openapi");
    }

    @Test
    @Tag("thorough")
    void whoWaitsForTenSecondsInVainIsToldToTryLater() throws Exception {
        sale.open("holdfast", STOCK, 2000); // each order takes two seconds, so the seventh of a server waits too long

        List<HttpResponse<String>> answers = Stream.generate(
                        () -> http.sendAsync(post("/lock10", ""), BodyHandlers.ofString()))
                .limit(10)
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .toList();

        assertThat(answers)
                .extracting(HttpResponse::statusCode)
                .contains(201, 429)
                .containsOnly(201, 429);
        assertThat(answers).filteredOn(answer -> answer.statusCode() == 429).allSatisfy(answer -> {
            assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(answer.body()).contains("Too many people, try later.");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "/accounts/nobody/withdrawals|{\"amount\":1}|404|There is no account 'nobody'.",
                "/accounts/couple/withdrawals|{\"amount\":0}|400|The amount must be at least 1.",
                "/accounts/couple/withdrawals|{\"amount\":-1}|400|The amount must be at least 1.",
                "/accounts/couple/withdrawals|all of it|400|Failed to read request",
                "/accounts/couple/withdrawals|{\"amount\":201}|409|The account has less than 201."
            })
    void aWrongWithdrawalIsRefusedAndSaysWhy(String path, String body, int status, String detail) throws Exception {
        sale.withdraw("holdfast", 0);
        awaitQuiet();

        HttpResponse<String> answer = http.send(order(at(path), "key", body), BodyHandlers.ofString());

        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.body()).contains(detail);
        assertThat(get("/accounts/couple").body())
                .contains("\"balance\":" + sale.figures().couple().balance());
        assertThat(get("/sales/account:couple").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "/control/couple|{\"guard\":\"magic\",\"gapMillis\":5}|400",
                "/control/sale|{\"guard\":\"magic\",\"stock\":20,\"gapMillis\":5}|400",
                "/control/sale|{\"guard\":\"none\",\"stock\":0,\"gapMillis\":5}|400",
                "/control/sale|nothing|400",
                "/control/sale|null|400",
                "/control/buyers|null|400",
                "/control/couple|null|400",
                "/control/buyers|{\"count\":1001}|400",
                "/control/nodes/9/kill|{}|400",
                "/control/nodes/1/start|{}|400",
                "/control/nodes/1/hug|{}|404",
                "/faults/kill|{}|404" // the servers' own, which the balancer does not pass on
            })
    void aWrongPressOfAButtonIsRefused(String path, String body, int status) throws Exception {
        assertThat(http.send(post(path, body), BodyHandlers.ofString()).statusCode())
                .isEqualTo(status);
    }

    @Test
    void theButtonsAnswerToNoOtherSite() throws Exception {
        HttpRequest fromAnotherSite = HttpRequest.newBuilder(at("/control/nodes/1/kill"))
                .header("Origin", "https://example.org")
                .POST(BodyPublishers.noBody())
                .build();

        assertThat(http.send(fromAnotherSite, BodyHandlers.ofString()).statusCode())
                .isEqualTo(403);
        assertThat(underAnotherName("/control/figures")).startsWith("HTTP/1.1 403");
    }

    /** What listens on all addresses would answer on this one, too. */
    @Test
    void theButtonsAndTheServersListenOnNoOtherAddress() throws Exception {
        for (int port :
                List.of(sale.address().getPort(), sale.servers().address(1).getPort())) {
            assertThatThrownBy(() -> new Socket("127.0.0.2", port)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void noOtherSiteShowsThePageInsideItsOwn() throws Exception {
        for (String page : List.of("/", "/scene.html", "/control/figures", "/swagger-ui/index.html")) {
            HttpHeaders headers = get(page).headers();

            assertThat(headers.allValues("X-Frame-Options")).as(page).containsExactly("DENY");
            assertThat(headers.allValues("Content-Security-Policy")).as(page).containsExactly("frame-ancestors 'none'");
        }
    }

    @Test
    void theServersArmFaultsForTheButtonsAlone() throws Exception {
        sale.open("holdfast", STOCK, 0);
        HttpRequest.Builder kill = HttpRequest.newBuilder(
                        sale.servers().address(1).resolve("/faults/kill"))
                .POST(BodyPublishers.noBody());

        HttpResponse<String> ofAnotherSite = http.send(kill.build(), BodyHandlers.ofString());
        HttpResponse<String> guessed =
                http.send(kill.header("Sale-Secret", "a guess").build(), BodyHandlers.ofString());

        assertThat(ofAnotherSite.statusCode()).isEqualTo(403);
        assertThat(guessed.statusCode()).isEqualTo(403);
        FlashSale.Figures end = sell(CROWD);
        assertThat(end.tally().soldBy()).containsKey("1"); // whose orders met no fault
        assertThat(end.nodes()).extracting(Servers.Figures::state).containsOnly("UP");
    }

    @Test
    void thePageLoadsOnlyFilesThatAreServedHere() throws Exception {
        String page = get("/").body();

        List<String> files = Pattern.compile(" (?:src|href)=\"([^\"#:]+)\"")
                .matcher(page)
                .results()
                .map(found -> found.group(1))
                .toList();

        assertThat(files).hasSizeGreaterThan(3);
        for (String file : files) {
            assertThat(get("/" + file).statusCode()).as(file).isEqualTo(200);
        }
    }

    /** As a site does whose name leads to 127.0.0.1. */
    private static String underAnotherName(String path) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), sale.address().getPort())) {
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
