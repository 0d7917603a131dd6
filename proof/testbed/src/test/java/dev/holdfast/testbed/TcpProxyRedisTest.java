package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each fault does to real requests to a real server: what the server has, and what the client learns of it. */
class TcpProxyRedisTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Started
    private static RedisServer redis;

    private TcpProxy proxy;
    private RespConnection direct;
    private RespConnection client;

    @BeforeEach
    void connect() {
        proxy = TcpProxy.to(redis.port());
        direct = redis.connect();
        direct.call("FLUSHALL");
        client = throughProxy();
    }

    @AfterEach
    void disconnect() {
        client.close();
        direct.close();
        proxy.close();
    }

    @Test
    void withoutAFaultAllIsAsWithoutAProxy() {
        assertThat(client.call("SET", "lock", "mine")).isEqualTo("OK");
        assertThat(client.call("GET", "lock")).isEqualTo("mine");
        assertThat(direct.call("GET", "lock")).isEqualTo("mine");
    }

    @Test
    void aDelayedRequestIsAppliedLate() {
        Duration delay = Duration.ofMillis(100);
        proxy.toServer().delay(delay);
        long start = System.nanoTime();
        assertThat(client.call("SET", "lock", "mine")).isEqualTo("OK");
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(delay.toNanos());
        proxy.toServer().awaitBite(SOON);
    }

    @Test
    void aHeldRequestIsNotAppliedUntilResumed() {
        proxy.toServer().hold();
        client.send("SET", "lock", "mine");
        proxy.toServer().awaitBite(SOON);
        assertThat(direct.call("GET", "lock")).isEqualTo("(nil)");
        proxy.toServer().resume();
        assertThat(client.receive()).isEqualTo("OK");
        assertThat(direct.call("GET", "lock")).isEqualTo("mine");
    }

    @Test
    void aHeldReplyIsThatOfARequestApplied() {
        proxy.toClient().hold();
        client.send("SET", "lock", "mine");
        proxy.toClient().awaitBite(SOON);
        assertThat(direct.call("GET", "lock")).isEqualTo("mine");
        proxy.toClient().resume();
        assertThat(client.receive()).isEqualTo("OK");
    }

    @Test
    void aSwallowedRequestIsNeverApplied() {
        proxy.toServer().swallow();
        client.send("SET", "lock", "mine");
        proxy.toServer().awaitBite(SOON);
        proxy.toServer().resume();
        assertThatThrownBy(client::receive).isInstanceOf(UncheckedIOException.class);
        assertThat(direct.call("GET", "lock")).isEqualTo("(nil)");
    }

    @Test
    void aCutConnectionFailsAndANewOneWorks() {
        assertThat(client.call("SET", "lock", "mine")).isEqualTo("OK");
        assertThat(proxy.cut()).isEqualTo(1);
        assertThatThrownBy(() -> client.call("GET", "lock")).isInstanceOf(UncheckedIOException.class);
        try (RespConnection again = throughProxy()) {
            assertThat(again.call("GET", "lock")).isEqualTo("mine");
        }
    }

    @Test
    void aRefusedClientCannotConnect() {
        proxy.refuse();
        assertThatThrownBy(this::throughProxy).isInstanceOf(UncheckedIOException.class);
        proxy.accept();
        try (RespConnection again = throughProxy()) {
            assertThat(again.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aRequestWhoseReplyIsDroppedWasApplied() {
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("SET"));
        assertThat(client.call("PING")).isEqualTo("PONG");
        assertThatThrownBy(() -> client.call("SET", "lock", "mine")).isInstanceOf(UncheckedIOException.class);
        drop.awaitBite(SOON);
        assertThat(direct.call("GET", "lock")).isEqualTo("mine");
        try (RespConnection again = throughProxy()) {
            assertThat(again.call("SET", "lock", "again")).isEqualTo("OK");
        }
    }

    @Test
    void theProxyOutlivesTheServerBehindIt() {
        assertThat(client.call("PING")).isEqualTo("PONG");
        redis.process().kill();
        assertThatThrownBy(() -> client.call("PING")).isInstanceOf(UncheckedIOException.class);
        redis.process().restart();
        try (RespConnection again = throughProxy()) {
            assertThat(again.call("PING")).isEqualTo("PONG");
        }
    }

    private RespConnection throughProxy() {
        return RespConnection.open(proxy.port(), SOON);
    }
}
