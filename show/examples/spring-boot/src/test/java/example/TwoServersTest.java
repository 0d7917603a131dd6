package example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Two servers of the application on one PostgreSQL, that of spring.datasource.url or SPRING_DATASOURCE_URL. */
class TwoServersTest {
    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext one = server();
    private final ConfigurableApplicationContext other = server();
    private final JdbcClient database = one.getBean(JdbcClient.class);

    @AfterEach
    void stop() {
        one.close();
        other.close();
    }

    @Test
    void noWithdrawalIsLost() {
        database.sql("UPDATE account SET balance = 1000 WHERE id = 1").update();

        List<CompletableFuture<Integer>> answers = IntStream.range(0, 100)
                .mapToObj(i -> send("POST", i % 2 == 0 ? one : other, "/accounts/1/withdraw/10"))
                .map(answer -> answer.thenApply(Answer::status))
                .toList();

        assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(200));
        assertThat(database.sql("SELECT balance FROM account WHERE id = 1")
                        .query(Long.class)
                        .single())
                .isZero();
    }

    @Test
    void oneServerWritesTheReportOfEachPeriod() {
        database.sql("DELETE FROM report").update();

        List<Double> written = await().atMost(Duration.ofMinutes(1)).until(this::reports, all -> all.size() >= 3);

        for (int i = 1; i < written.size(); i++) {
            assertThat(written.get(i) - written.get(i - 1)).isGreaterThan(2);
        }
    }

    private List<Double> reports() {
        return database.sql("SELECT extract(epoch FROM written) FROM report ORDER BY 1")
                .query(Double.class)
                .list();
    }

    @Test
    void theActuatorShowsTheLocks() {
        send("POST", one, "/accounts/1/withdraw/0").join();

        assertThat(send("GET", one, "/actuator/locks").join().body()).contains("\"lockClient\"");
        assertThat(send("GET", one, "/actuator/health").join().body()).contains("\"locks\":");
        assertThat(send("GET", one, "/actuator/prometheus").join().body()).contains("holdfast_held", "holdfast_store_");
    }

    private record Answer(int status, String body) {}

    private CompletableFuture<Answer> send(String method, ConfigurableApplicationContext server, String path) {
        String port = server.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, BodyPublishers.noBody())
                .build();
        return http.sendAsync(request, BodyHandlers.ofString())
                .thenApply(answer -> new Answer(answer.statusCode(), answer.body()));
    }

    private static ConfigurableApplicationContext server() {
        return SpringApplication.run(BankApplication.class, "--server.address=127.0.0.1", "--server.port=0");
    }
}
