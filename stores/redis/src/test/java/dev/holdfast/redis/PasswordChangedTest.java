package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A password that is changed while connections are open shows when they are made again. */
@Timeout(120)
class PasswordChangedTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    @Tag("thorough")
    void aServerThatIsDownAfterwardsIsNotSaidToRefuseTheLogIn() throws Exception {
        try (Rig rig = new Rig();
                RespConnection admin = RespConnection.open(rig.server.port(), SOON);
                LockClient client = LockClient.connect("redis://127.0.0.1:" + rig.server.port())) {
            admin.call("CONFIG", "SET", "requirepass", "second");
            admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            await().atMost(SOON)
                    .untilAsserted(
                            () -> assertThatThrownBy(() -> client.lock("free").tryAcquire())
                                    .isInstanceOf(StoreRefusedException.class));

            rig.server.process().kill();

            await().atMost(SOON)
                    .untilAsserted(
                            () -> assertThatThrownBy(() -> client.lock("free").tryAcquire())
                                    .isInstanceOf(StoreUnavailableException.class)
                                    .hasMessageContaining("down, busy, or cannot be reached"));
        }
    }

    @ParameterizedTest
    @CsvSource({"first, refused the user or the password", "'', wants a log-in"})
    void waitsEndAndEachRequestSaysSoUntilItIsSetBack(String before, String said) throws Exception {
        try (Rig rig = new Rig();
                RespConnection admin = RespConnection.open(rig.server.port(), SOON)) {
            admin.call("CONFIG", "SET", "requirepass", before);
            String logIn = before.isEmpty() ? "" : ":" + before + "@";
            String url = "redis://" + logIn + "127.0.0.1:" + rig.server.port();
            try (LockClient client = LockClient.connect(url);
                    LockClient other = LockClient.connect(url)) {
                Hold hold = other.lock("held").acquire();
                CompletionStage<Hold> waiting = client.lock("held").acquireAsync();
                await().atMost(SOON).until(() -> other.lock("held").status().waiting() == 1);

                admin.call("CONFIG", "SET", "requirepass", "second");
                admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");

                assertThatThrownBy(() -> waiting.toCompletableFuture().get(SOON.toMillis(), TimeUnit.MILLISECONDS))
                        .hasCauseInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining(said);
                long began = System.nanoTime();
                assertThatThrownBy(() -> client.lock("free").tryAcquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining(said);
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(RedisUrl.TIMEOUT);

                admin.call("CONFIG", "SET", "requirepass", before);
                await().atMost(SOON)
                        .ignoreExceptionsInstanceOf(StoreRefusedException.class)
                        .until(() -> client.lock("free").tryAcquire().isPresent());
                assertThat(hold.isValid()).isTrue();
            }
        }
    }
}
