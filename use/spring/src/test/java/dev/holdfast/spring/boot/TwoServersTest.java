package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two real servers with the starter and one property, seen over HTTP: exclusion, tokens, and the death of one. */
class TwoServersTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    @Test
    @Tag("thorough")
    void onAFile() throws Exception {
        excludeEachOther("sqlite:" + folder.resolve("locks.db"));
    }

    @Test
    @Tag("thorough")
    @Tag("not-on-older-spring")
    void onRedis() throws Exception {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            excludeEachOther(redis.uri());
        }
    }

    @Test
    @Tag("thorough")
    @Tag("not-on-older-spring")
    void onPostgres() throws Exception {
        try (PostgresServer postgres = OrSkip.orSkip(PostgresServer::start)) {
            excludeEachOther(postgres.jdbcUrl());
        }
    }

    private void excludeEachOther(String store) throws Exception {
        int firstPort = Ports.free();
        int secondPort = Ports.free();
        try (ChildProcess first = till(store, firstPort);
                ChildProcess second = till(store, secondPort)) {
            first.expect("ready", LONG);
            second.expect("ready", LONG);
            long before = token(get(firstPort, "/charge").join());
            CompletableFuture<HttpResponse<String>> held = get(firstPort, "/hold");
            first.expect("holding", LONG);
            HttpResponse<String> busy = get(secondPort, "/try").join();
            assertThat(busy.statusCode()).isEqualTo(409);
            assertThat(busy.body()).contains("[till]");
            CompletableFuture<HttpResponse<String>> waiting = get(secondPort, "/charge");
            get(firstPort, "/leave").join();
            long holder = token(held.join());
            long next = token(waiting.join());
            assertThat(holder).isGreaterThan(before);
            assertThat(next).isGreaterThan(holder);

            CompletableFuture<HttpResponse<String>> dying = get(secondPort, "/hold");
            second.expect("holding", LONG);
            second.kill();
            assertThat(token(get(firstPort, "/charge").get(1, TimeUnit.MINUTES)))
                    .isGreaterThan(next);
            assertThat(dying).failsWithin(LONG);
        }
    }

    private static ChildProcess till(String store, int port) {
        return ChildJvm.main(Till.class)
                .args("--holdfast.store=" + store, "--holdfast.hold.lease=10s", "--till.port=" + port)
                .start();
    }

    private CompletableFuture<HttpResponse<String>> get(int port, String path) {
        URI page = URI.create("http://127.0.0.1:" + port + path);
        return http.sendAsync(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString());
    }

    private static long token(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Long.parseLong(answer.body());
    }
}
